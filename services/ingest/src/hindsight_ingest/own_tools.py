"""Calls of hindsight's own tools in an observed session: what was recalled is not learned again."""

from collections.abc import Sequence

from hindsight_store.turns import Turn

OWN_TOOLS = frozenset(
    (
        "memory_write",
        "memory_search",
        "memory_update",
        "memory_forget",
        "remember",
        "recall",
        "forget",
        "write_memory",
        "search_memory",
        "observe",
        "complete_task",
        "recall_context",
        "report_outcome",
        "desk_put",
        "desk_get",
        "desk_pin",
        "end_session",
    )
)


def leave_out_own(turns: Sequence[Turn]) -> list[Turn]:
    """Turns without calls of hindsight's own tools."""
    return [t for t in turns if not (t.role.startswith("tool") and is_own(t.tool))]


def is_own(tool: str) -> bool:
    """Whether a tool is one of hindsight's, as clients name it: plain, or behind the server's name."""
    return tool.replace(".", "__").replace("/", "__").split("__")[-1] in OWN_TOOLS
