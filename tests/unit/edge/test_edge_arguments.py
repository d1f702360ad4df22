"""Schemas that strict providers accept, and arguments checked against them."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hindsight_mcp_edge import memory_tools
from hindsight_mcp_edge.desk_tools import DESK_TOOLS
from hindsight_mcp_edge.experience_tools import EXPERIENCE_TOOLS
from hindsight_mcp_edge.fields import Field, Refused, read_arguments
from hindsight_mcp_edge.memory_tools import MEMORY_TOOLS, read_moment, read_source, to_argument
from hindsight_mcp_edge.remember_tools import REMEMBER_TOOLS
from hindsight_mcp_edge.results import from_source
from hindsight_mcp_edge.tool import Tool
from hindsight_memory import Source
from hypothesis import given
from hypothesis import strategies as st

MEMORY_FIELDS = ("memory_key", "memory_query", "memory_value", "importance", "tags", "is_core", "metadata")
SPECIFIED = {  # tool -> required, optional with defaults (SPEC Q, less what recall does not do yet)
    "memory_write": (
        {"agent_id", "memory_key", "memory_value"},
        {
            **dict.fromkeys(("memory_query", "tags", "source", "is_core", "metadata", "request_id")),
            **{"importance": 0.5, "confidence": 0.8, "scope": "agent"},
        },
    ),
    "memory_search": (
        {"agent_id", "query"},
        {
            **dict.fromkeys(("key_filter", "tags", "scope", "kind", "since", "until", "as_of", "context")),
            **{"top_k": 5, "min_importance": 0.0, "mode": "hybrid", "include_archived": False},
        },
    ),
    "write_memory": (
        {"goal", "outcome", "scenario_summary"},
        dict.fromkeys(("key_steps", "pitfalls", "reusable_knowledge", "tags")),
    ),
    "search_memory": (set(), {**dict.fromkeys(("query", "tags", "context")), "mode": "hybrid", "limit": 5}),
    "memory_update": (
        {"agent_id", "memory_id"},
        dict.fromkeys([*MEMORY_FIELDS, "revision", "request_id"]),
    ),
    "memory_forget": (
        {"agent_id"},
        {**dict.fromkeys(("memory_id", "memory_key", "scope", "request_id")), "mode": "delete"},
    ),
}
TOOLS = (*MEMORY_TOOLS, *EXPERIENCE_TOOLS)
HEAVY = {"anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "if", "patternProperties", "format"}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_has_the_specified_fields_and_defaults(tool: Tool):
    schema = tool.definition().input_schema
    required, optional = SPECIFIED[tool.name]
    assert set(schema["required"]) == required
    assert {name: p.get("default") for name, p in schema["properties"].items() if name not in required} == optional


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_flat_and_plain(tool: Tool):
    definition = tool.definition()
    schema = definition.input_schema
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    for name, field in schema["properties"].items():
        assert isinstance(field["type"], str), name
        assert field["description"], name
        assert field["type"] != "array" or field["items"]["type"] == "string", name
    for part in (schema, definition.output_schema):
        assert not HEAVY & set(json.dumps(part).replace('"', " ").split())
    assert definition.annotations is not None
    assert definition.annotations.read_only_hint is (tool.name in ("memory_search", "search_memory"))
    assert definition.annotations.destructive_hint is (tool.name in ("memory_update", "memory_forget"))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_descriptions_speak_both_languages(tool: Tool):
    for text in (tool.description, tool.title):
        assert any("a" <= c <= "z" for c in text)
        assert any("一" <= c <= "鿿" for c in text)


def refusal(fields: list[Field], arguments: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(Refused) as refused:
        read_arguments(fields, arguments)
    return refused.value.fields


TOP_K = Field("top_k", "integer", "", low=1, high=200)


@pytest.mark.parametrize("value", ["5", True, 2.5, 0, 201, None, [5], {}, float("nan"), float("inf"), 10**400, -(10**400)])
def test_what_is_no_whole_number_in_range_is_refused_by_name(value: Any):
    assert list(refusal([TOP_K], {"top_k": value})) == ["top_k"]


def test_a_wrong_type_is_told_with_what_was_expected_and_found():
    assert refusal([TOP_K], {"top_k": "5"}) == {"top_k": "give a whole number from 1 to 200, got a string"}


def test_a_whole_number_may_be_written_as_a_fraction():
    read = read_arguments([TOP_K], {"top_k": 5.0})["top_k"]
    assert (read, type(read)) == (5, int)


def test_every_problem_is_told_at_once_and_an_unknown_name_with_the_closest():
    fields = [Field("memory_key", "string", "", required=True), TOP_K]
    told = refusal(fields, {"memorykey": 1, "top_k": "x"})
    assert set(told) == {"memorykey", "memory_key", "top_k"}
    assert "'memory_key'" in told["memorykey"]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"a": float("nan")}, "metadata.a"),
        ({"a": [1, {"b": "x\0"}]}, "metadata.a[1].b"),
        ({"a": 2**53 + 1}, "metadata.a"),
        ({"a\ud800": 1}, "metadata.a\\ud800"),
    ],
)
def test_free_json_that_cannot_be_kept_is_refused_with_its_place(metadata: Any, field: str):
    assert list(refusal([Field("metadata", "object", "")], {"metadata": metadata})) == [field]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=3),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from([f.name for f in memory_tools.WRITE_FIELDS]) | st.text(max_size=12), JSON, max_size=6))
def test_arguments_are_read_or_refused_in_printable_words(arguments: dict[str, Any]):
    names = {f.name for f in memory_tools.WRITE_FIELDS}
    try:
        assert set(read_arguments(memory_tools.WRITE_FIELDS, arguments)) == names
    except Refused as refused:
        told = json.dumps(refused.fields, ensure_ascii=False).encode()  # fails on what cannot be sent
    else:
        told = b"{}"
    assert set(json.loads(told)) or names >= set(arguments)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("user", Source("user")),
        ("user turn:7", Source("user", turn=7)),
        ("tool session:s-1 turn:0", Source("tool", "s-1", 0)),
        ("inference session:a:b", Source("inference", "a:b")),
        ("turn:7", Source(None, turn=7)),
    ],
)
def test_a_source_has_a_text_form(text: str, source: Source):
    assert read_source(text) == source
    assert from_source(source) == text


@pytest.mark.parametrize(
    "text",
    [
        *("admin", "User", "user tool", "import", "kind:user", "kind:", "session", "session:"),
        *("turn:", "turn:x", "turn:-1", "turn:1.5", "turn:1 turn:2", "turn:9999999999", "turn:٣"),
    ],
)
def test_what_is_no_source_is_refused(text: str):
    with pytest.raises(Refused) as refused:
        read_source(text)
    assert list(refused.value.fields) == ["source"]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-31", datetime(2026, 3, 31, tzinfo=UTC)),
        ("2026-03-31T08:00:00Z", datetime(2026, 3, 31, 8, tzinfo=UTC)),
        ("2026-03-31t08:00:00.5+08:00", datetime(2026, 3, 31, 0, 0, 0, 500_000, tzinfo=UTC)),
        (None, None),
    ],
)
def test_moments_are_dates_and_date_times(text: str | None, moment: datetime | None):
    assert read_moment("since", text) == moment


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-3-1", "2026-02-30", "2026-03-31T08:00:00", "2026-03-31T25:00:00Z", "0001-01-01T00:00:00+08:00"],
)
def test_what_is_no_moment_is_refused(text: str):
    with pytest.raises(Refused) as refused:
        read_moment("until", text)
    assert list(refused.value.fields) == ["until"]


@pytest.mark.parametrize(
    ("field", "argument"),
    [
        ("memory.value", "memory_value"),
        ("memory.tags[3]", "tags[3]"),
        ("tags.values[3]", "tags[3]"),
        ("memory.source.turn", "source.turn"),
        ("memory.metadata.a", "metadata.a"),
        ("filter.key", "key_filter"),
        ("filter.valid_from.until", "until"),
        ("filter.scope", "scope"),
        ("key", "memory_key"),
        ("agent_id", "agent_id"),
    ],
)
def test_a_service_s_field_is_told_as_the_argument_it_came_from(field: str, argument: str):
    assert to_argument(field, {}) == argument


@pytest.mark.parametrize(
    ("tool", "field", "argument"),
    [
        ("remember", "memory.value", "content"),
        ("remember", "memory.scope", "scope"),
        ("forget", "key", "mem_key"),
        ("desk_put", "key", "key"),
        ("desk_put", "scope", "session_id"),
        ("desk_get", "filter.scope", "session_id"),
        ("recall", "filter.scope", "scope"),
    ],
)
def test_a_tool_that_calls_it_otherwise_tells_its_own_name(tool: str, field: str, argument: str):
    renames = next(t.renames for t in (*REMEMBER_TOOLS, *DESK_TOOLS) if t.name == tool)
    assert to_argument(field, renames) == argument
