"""Every field of every request is checked: a bad value is refused and the refusal names it."""

import json
from typing import Any

import grpc
import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from hindsight.v1 import (
    admin_pb2,
    desk_pb2,
    embedding_pb2,
    erasure_pb2,
    ingest_pb2,
    recall_pb2,
    receipt_pb2,
    record_pb2,
    review_pb2,
    session_pb2,
    sharing_pb2,
)
from hindsight_memory import HindsightError, NewKey, NewMemory
from hindsight_memory.errors import to_error

FILES = (
    ingest_pb2,
    review_pb2,
    admin_pb2,
    erasure_pb2,
    recall_pb2,
    receipt_pb2,
    embedding_pb2,
    record_pb2,
    session_pb2,
    sharing_pb2,
    desk_pb2,
)
METHODS = {m.name: m for f in FILES for s in f.DESCRIPTOR.services_by_name.values() for m in s.methods}
ID = "01890a5d-ac96-774b-bcce-b302099a8057"
OTHER_ID = "01890a5d-ac96-774b-bcce-b302099a8058"
TIME, LATE, NO_TIME = "2026-01-02T00:00:00Z", "9999-12-31T23:59:59.999999999Z", {"seconds": 1 << 60}
MEMORY = {"key": "k", "value": "v"}
RECALL = {"tenantId": 1, "bankId": 1, "receiptId": ID, "principal": "k", "at": TIME, "query": "q"}
BAD_RECALLS: list[Any] = [
    *({**RECALL, name: n} for name in ("tenantId", "bankId") for n in (0, -1)),
    *({**RECALL, "receiptId": text} for text in ("", "x")),
    *({**RECALL, "principal": text} for text in ("", "a\0b", "x" * 129)),
    {name: value for name, value in RECALL.items() if name != "at"},
    *({**RECALL, "query": text} for text in ("a\0b", "x" * 8193)),
    *({**RECALL, "scope": text} for text in ("a\0b", "User")),
    *({**RECALL, name: ids} for name in ("memoryIds", "contradictedIds") for ids in (["x"], [ID] * 201)),
    {**RECALL, "document": "A" * 360_000},
    *({**RECALL, "sharedHits": hits} for hits in ([{"bankId": 0, "memoryId": ID}], [{"bankId": 1, "memoryId": "x"}])),
]
DENIED = {"tenantId": 1, "auditId": ID, "principal": "k", "action": "Recall", "subject": "agent_id=ada"}
BAD_DENIED: list[Any] = [
    {**DENIED, "tenantId": 0},
    *({**DENIED, "auditId": text} for text in ("", "x")),
    *({**DENIED, "principal": text} for text in ("", "a\0b", "x" * 129)),
    *({**DENIED, "action": text} for text in ("", "x" * 65)),
    *({**DENIED, "subject": text} for text in ("a\0b", "x" * 257)),
]
VALID: dict[str, dict[str, Any]] = {
    "Write": {"agentId": "ada", "memory": MEMORY},
    "WriteBatch": {"agentId": "ada", "memories": [MEMORY]},
    "Update": {"agentId": "ada", "memoryId": ID, "key": "k"},
    "Forget": {"agentId": "ada", "memoryId": ID},
    "Restore": {"agentId": "ada", "memoryId": ID, "revision": 1},
    "Relate": {"agentId": "ada", "fromId": ID, "toId": OTHER_ID, "type": "supports"},
    "Unrelate": {"agentId": "ada", "fromId": ID, "toId": OTHER_ID, "type": "supports"},
    "Observe": {"agentId": "ada", "sessionId": "s", "turns": [{"role": "TURN_ROLE_USER", "content": "c"}]},
    **{method: {"agentId": "ada", "sessionId": "s"} for method in ("CompleteTask", "EndSession", "LookBack", "GetSession")},
    "ReportOutcome": {"agentId": "ada", "receiptId": ID, "outcome": "REPORTED_OUTCOME_SUCCESS"},
    "ShouldWrite": {"agentId": "ada", "text": "t"},
    "PutEntry": {"agentId": "ada", "scope": "session:s", "key": "k", "value": "v"},
    **{method: {"agentId": "ada", "scope": "session:s", "key": "k"} for method in ("GetEntry", "PinEntry", "PromoteEntry")},
    **{method: {"agentId": "ada", "scope": "session:s"} for method in ("ListEntries", "ClearDesk")},
    "ListJobs": {},
    "RequeueJobs": {"jobIds": [ID]},
    "ListAudit": {},
    "Erase": {"tenant": "acme", "scope": "user:1"},
    "GetErasure": {"erasureId": ID},
    "VerifyErasure": {"receipt": {"id": ID, "askedAt": TIME}},
    "RevokeSource": {"agentId": "ada", "source": {"principal": "k"}},
    "Reinstate": {"withdrawalId": ID},
    "ListWithdrawals": {},
    "CreateKey": {"name": "n"},
    "ListKeys": {},
    "RotateKey": {"keyId": ID},
    "RevokeKey": {"keyId": ID},
    "DescribeCaller": {},
    "Recall": {"agentId": "ada", "query": "q", "working": "WORKING_ALSO", "sessionId": "s"},
    "RecallContext": {"agentId": "ada"},
    "ShouldRecall": {"text": "t"},
    "Get": {"agentId": "ada", "memoryId": ID},
    "List": {"agentId": "ada"},
    "ListRevisions": {"agentId": "ada", "memoryId": ID},
    **{method: {"agentId": "ada", "receiptId": ID} for method in ("GetReceipt", "Replay", "RecallAsOfThen")},
    "ListRelations": {"agentId": "ada", "memoryId": ID},
    "ListConflicts": {"agentId": "ada"},
    "ListReviews": {"agentId": "ada"},
    **{method: {"agentId": "ada", "memoryId": ID} for method in ("Approve", "Reject")},
    "Share": {"agentId": "ada", "granteeAgentId": "bob", "scope": "user:1"},
    "Unshare": {"agentId": "ada", "grantId": ID},
    "ListGrants": {"agentId": "ada"},
    "Embed": {"texts": ["x"], "role": "ROLE_QUERY"},
    "Rerank": {"query": "q", "texts": ["x"]},
    "DescribeModel": {},
    "Record": {"recalls": [RECALL]},
}
NUL, UNKNOWN = "a\0b", 99
BAD_MEMORY: dict[str, Any] = {
    "key": ["", " \u3000", NUL, "x" * 129],
    "query": [NUL, "x" * 2049],
    "value": ["", "\n", NUL, "中" * 10_923],
    "scope": ["User", "user:", NUL, "user:" + "x" * 160],
    "kind": [UNKNOWN, -1],
    "tags": [["t"] * 65, [""], [NUL], ["x" * 65]],
    "importance": [-0.1, 1.1, "NaN", "Infinity"],
    "confidence": [-0.1, 1.1, "NaN"],  # what is less sure than 0.5 goes to a desk
    "source.kind": [UNKNOWN],
    "source.sessionId": [NUL, "x" * 129],
    "source.turn": [-1],
    "metadata": [{"a": NUL}, {NUL: 1}, {"x" * 129: 1}, {"a": "x" * 16_384}, {str(n): "" for n in range(5000)}],
    "validFrom": [],
    "validTo": ["2026-01-01T00:00:00Z", "2000-01-01T00:00:00Z"],
    "expiresAt": [],
    "derivedFrom": [["x"], [ID] * 65, [ID]],
}
TURN: dict[str, Any] = {"role": "TURN_ROLE_USER", "content": "c"}
BAD_TURNS: list[Any] = [
    *({"role": role, "content": "c"} for role in (0, UNKNOWN)),
    *(TURN | {"content": text} for text in ("", " ", NUL, "中" * 10_923)),
    {"role": "TURN_ROLE_TOOL_CALL", "content": "c"},
    *(TURN | {"tool": text} for text in (NUL, "x" * 129)),
    *(TURN | {"result": text} for text in (NUL, "中" * 10_923)),
    TURN | {"arguments": {"a": NUL}},
]
BAD_FILTER: dict[str, Any] = {
    "key": [NUL, "x" * 130],
    "scope": ["User", NUL],
    "kinds": [[UNKNOWN], [1] * 65],
    "tags": [[""], ["t"] * 65],
    "minImportance": [-0.1, "NaN"],
    "minConfidence": [1.1, "NaN"],
    "validFrom.until": ["0001-01-01T00:00:00Z"],
    "createdAt.until": ["0001-01-01T00:00:00Z"],
    "metadata": [{"a": NUL}],
}
AGENT = {"agentId": ["", NUL, " ", "x" * 65]}
REQUEST = {"requestId": [NUL, "x" * 129]}
PAGE = {"pageSize": [-1, 1001], "pageToken": ["x", "-1", "²", "9" * 5000]}
SESSION = {"sessionId": ["", " ", NUL, "x" * 129]}
DESK = AGENT | {"scope": ["", " ", "User", NUL, "user:" + "x" * 160]}
BAD_SOURCE = {
    "source.principal": ["", NUL, "x" * 129],
    "source.sessionId": ["s", NUL],  # beside the key
    "source.tool": ["t", NUL],
    "source.memoryId": [ID, "x"],
    "source.until": ["0001-01-01T00:00:00Z"],
}
BAD_RELATION = {"fromId": ["", "x", ID], "toId": ["x", ID], "type": ["", " ", NUL, "x" * 33]}
BAD: dict[str, dict[str, Any]] = {
    "Write": REQUEST | AGENT | {f"memory.{f}": v for f, v in BAD_MEMORY.items()},
    "WriteBatch": REQUEST | AGENT | {"memories": [[], [MEMORY] * 257]},
    "Update": REQUEST
    | AGENT
    | {
        f: v
        for f, v in BAD_MEMORY.items()
        if f in ("key", "value", "kind", "importance", "confidence", "metadata", "expiresAt", "query")
    }
    | {"memoryId": ["", "x"], "revision": [0, -1], "tags.values": BAD_MEMORY["tags"], "confidence": [0.49, 1.1, "NaN"]},
    "Forget": REQUEST | AGENT | {"memoryId": ["x", ""], "key": [NUL], "scope": ["User", NUL], "mode": [UNKNOWN]},
    "Restore": REQUEST | AGENT | {"memoryId": ["", "x"], "revision": [0, -1]},
    "Relate": REQUEST | AGENT | BAD_RELATION | {"weight": [0, -0.1, 1.1, "NaN", "Infinity"]},
    "Unrelate": REQUEST | AGENT | BAD_RELATION,
    "Observe": REQUEST
    | AGENT
    | {
        "sessionId": ["", NUL, "x" * 129],
        "scope": ["User", NUL],
        "turns": [[], [TURN] * 257, *([turn] for turn in BAD_TURNS)],
        "firstTurn": [-1, 1],
    },
    "CompleteTask": REQUEST | AGENT | SESSION | {"outcome": ["maybe", NUL, "x" * 33], "note": [NUL, "x" * 2001]},
    "ReportOutcome": REQUEST
    | {
        "agentId": [NUL, " ", "x" * 65],
        "receiptId": ["", "x"],
        "outcome": [0, UNKNOWN],
        "note": [NUL, "x" * 2001],
        "finalPrompt": [NUL, "x" * 32_769, "中" * 10_923],
    },
    **dict.fromkeys(("EndSession", "LookBack"), REQUEST | AGENT | SESSION),
    "GetSession": AGENT | SESSION,
    "ShouldWrite": AGENT | {"text": ["", " \u3000", NUL, "x" * 8193], "before": [NUL, "x" * 8193]},
    "PutEntry": DESK
    | {f: BAD_MEMORY[f] for f in ("key", "query", "value", "importance", "source.kind", "source.sessionId", "source.turn")}
    | {"confidence": BAD_MEMORY["confidence"], "ttlS": [-1, 86_401]},
    **dict.fromkeys(("GetEntry", "PinEntry"), DESK | {"key": BAD_MEMORY["key"]}),
    "ListEntries": DESK,
    "ClearDesk": DESK | {"key": [NUL, "x" * 129]},
    "PromoteEntry": REQUEST
    | DESK
    | {"key": BAD_MEMORY["key"], "memoryScope": ["User", NUL], "kind": [UNKNOWN, -1], "tags": BAD_MEMORY["tags"]},
    "ListJobs": {"tenant": [NUL], "state": [UNKNOWN]} | PAGE,
    "RequeueJobs": {"tenant": [NUL], "jobIds": [[], ["x"], [ID] * 257]},
    "ListAudit": {
        "tenant": [NUL],
        "agentId": [NUL, " ", "x" * 65],
        "principal": [NUL, "x" * 129],
        "action": [NUL, "x" * 129],
        "since": [],
        "until": [],
    }
    | PAGE
    | {"pageToken": ["x", "-1"]},
    "Erase": REQUEST
    | {"tenant": [NUL, " ", "x" * 65], "agentId": [NUL, " ", "x" * 65], "scope": ["", "User", NUL]}
    | {field: [] for field in BAD_SOURCE},  # as in RevokeSource
    "GetErasure": {"tenant": [NUL], "erasureId": ["", "x"]},
    "VerifyErasure": {
        "tenant": [NUL],
        "receipt.id": ["", "x"],
        **{f"receipt.{name}": [NUL, "x" * 65] for name in ("kind", "nameHash", "idsDigest", "signature")},
        **{f"receipt.{name}": [] for name in ("askedAt", "removedAt", "vacuumedAt", "cachesClearedAt")},
        "receipt.counts": [{NUL: "1"}, {str(n): "1" for n in range(65)}],
    },
    "RevokeSource": REQUEST | {"agentId": [NUL, " ", "x" * 65]} | BAD_SOURCE,
    "Reinstate": REQUEST | {"withdrawalId": ["", "x"]},
    "ListWithdrawals": PAGE | {"pageToken": ["x", "-1"]},
    "CreateKey": REQUEST
    | {
        "tenant": [NUL, " ", "x" * 65],
        "name": [NUL, "x" * 129],
        "agentIds": [[""], ["x" * 65], ["a"] * 257],
        "defaultAgentId": [NUL, " ", "x" * 65],
        "scopes": [[""], ["User*"], ["agent"] * 257],
        "rights": [[0], [UNKNOWN], [1] * 65],
        "sources": [[0], [UNKNOWN], [1] * 65],
        "expiresAt": [],
    },
    "ListKeys": {"tenant": [NUL]} | PAGE,
    "RotateKey": REQUEST | {"tenant": [NUL], "keyId": ["", "x"]},
    "RevokeKey": REQUEST | {"tenant": [NUL], "keyId": ["", "x"]},
    "DescribeCaller": {},
    "Recall": AGENT
    | {f"filter.{f}": v for f, v in BAD_FILTER.items()}
    | {
        "query": ["", NUL, "x" * 8193],
        "mode": [UNKNOWN],
        "topK": [-1, 201],
        "relevanceFloor": [-0.1, 1.1, "NaN"],
        "pageToken": ["x", ID],
        "timeZone": [NUL, "Nowhere/City", "../../etc/passwd", "x" * 65],
        "asOf": [],
        "knownAt": [LATE],
        "deadlineMs": [-1, 60_001],
        "context": [NUL, "x" * 8193],
        "working": [UNKNOWN],
        "sessionId": [NUL, "x" * 129],
    },
    "RecallContext": AGENT
    | {
        "sessionId": [NUL, "x" * 129],
        "scope": ["User", NUL],
        "query": [NUL, "x" * 8193],
        "budgetTokens": [-1, 99, 100_001],
        "timeZone": [NUL, "Nowhere/City", "x" * 65],
        "deadlineMs": [-1, 60_001],
        "context": [NUL, "x" * 8193],
    },
    **dict.fromkeys(("GetReceipt", "Replay", "RecallAsOfThen"), AGENT | {"receiptId": ["", "x"]}),
    "ShouldRecall": {"text": ["", " \u3000", NUL, "x" * 8193]},
    "Get": AGENT | {"memoryId": ["", "x"]},
    "List": AGENT | {f"filter.{f}": v for f, v in BAD_FILTER.items()} | {"statuses": [[UNKNOWN], [1] * 65]} | PAGE,
    "ListRelations": AGENT | {"memoryId": ["", "x"]} | PAGE | {"pageToken": ["x", f"{ID}:x:t", f"{ID}:{ID}:{NUL}"]},
    "ListConflicts": AGENT | PAGE,
    "ListReviews": AGENT | PAGE | {"reason": [NUL, "x" * 65]},
    "Approve": REQUEST | AGENT | {"memoryId": ["", "x"], "key": [""], "query": [NUL], "value": [""]},
    "Reject": REQUEST | AGENT | {"memoryId": ["", "x"]},
    "Share": REQUEST
    | AGENT
    | {
        "granteeAgentId": ["", " ", NUL, "x" * 65, "ada", "nobody"],
        "scope": ["", "User*", NUL, "user:" + "x" * 160],
        "keyPrefix": [NUL, "x" * 129, "order*"],
        "access": [UNKNOWN],
        "expiresAt": [TIME],
    },
    "Unshare": REQUEST | AGENT | {"grantId": ["", "x"]},
    "ListGrants": AGENT | PAGE,
    "ListRevisions": AGENT | {"memoryId": ["", "x"]} | PAGE,
    "Embed": {"texts": [[], [""], ["x"] * 513, ["x" * 65_537]], "role": [0, UNKNOWN]},
    "Rerank": {"query": ["", " \n", "x" * 65_537], "texts": [[], ["x", " "], ["x"] * 101, ["中" * 21_846]]},
    "DescribeModel": {},
    "Record": {
        "recalls": [[], *([recall] for recall in BAD_RECALLS), [RECALL] * 257],
        "denied": [*([call] for call in BAD_DENIED), [DENIED] * 257],
    },
}
CASES = [(m, f, v) for m, fields in BAD.items() for f, values in fields.items() for v in values]


def fields_of(descriptor: Descriptor, prefix: str = "") -> set[str]:
    """The fields of a request that can hold a bad value, nested ones too; times are tried by themselves."""
    found = set()
    for field in descriptor.fields:
        name = prefix + field.json_name
        if field.message_type and field.message_type.file.package == "hindsight.v1" and not field.is_repeated:
            found |= fields_of(field.message_type, f"{name}.")
        elif field.cpp_type != FieldDescriptor.CPPTYPE_BOOL and not name.endswith(".since"):
            found.add(name)
    return found


@pytest.mark.parametrize("method", METHODS)
def test_the_table_names_every_field(method):
    assert set(BAD[method]) == fields_of(METHODS[method].input_type)


@pytest.fixture(scope="session")
async def embed_address(embed_token, tmp_path_factory):
    from tests.fuzz.conftest import serve_fake_embedder

    async for address in serve_fake_embedder(embed_token, tmp_path_factory):
        yield address


@pytest.fixture
async def send(services, embed_address, embed_token):
    """Sends a request and returns the error."""
    _, key = await services.operator.create_key(NewKey(tenant="acme", rights=("read", "write", "admin")))
    recall = services.recall_address
    addresses = {"Embedding": embed_address, "Recall": recall, "Receipt": recall}
    keys = {
        **dict.fromkeys(("Admin", "Erasure"), services.database.operator_key),
        "Embedding": embed_token,
        "Record": services.record_token,
    }
    channels = {}

    async def call(method: str, raw: bytes):
        service = METHODS[method].containing_service
        name = service.name.removesuffix("Service")
        address = addresses.get(name, services.ingest_address)
        channel = channels.setdefault(address, grpc.aio.insecure_channel(address))
        metadata = (("authorization", f"Bearer {keys.get(name, key)}"),)
        try:
            await channel.unary_unary(f"/{service.full_name}/{method}")(raw, metadata=metadata, timeout=10)
        except grpc.aio.AioRpcError as error:
            return to_error(error)
        return HindsightError("accepted", code="OK", reason="", fields={}, retry_after_s=None)

    yield call
    for channel in channels.values():
        await channel.close()


def build(method: str, path: str, value: Any) -> bytes:
    request: Any = json.loads(json.dumps(VALID[method]))
    *outer, last = path.split(".")
    inner = request
    for name in outer:
        inner = inner.setdefault(name, {})
    inner[last] = value
    if method == "Forget" and path == "key":
        del request["memoryId"]
    if path.endswith("validTo"):
        inner["validFrom"] = TIME
    if path.endswith(".until"):
        inner["since"] = TIME
    return json_format.ParseDict(request, GetMessageClass(METHODS[method].input_type)()).SerializeToString()


def snake(path: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in path)


async def test_a_bad_value_is_refused_and_its_field_named(send):
    wrong = []
    for method, path, value in CASES:
        error = await send(method, build(method, path, value))
        named = next(iter(error.fields), "")
        if error.code != "INVALID_ARGUMENT" or not named.startswith(snake(path)):
            wrong.append((method, path, str(value)[:40], error.code, error.message[:80]))
    assert not wrong, "\n".join(map(str, wrong))


async def test_a_moment_outside_the_years_1_to_9999_is_refused_and_its_field_named(send):
    from google.protobuf.timestamp_pb2 import Timestamp

    wrong = []
    for method, descriptor in METHODS.items():
        for path in find_times(descriptor.input_type):
            for stamp in (Timestamp(seconds=1 << 60), Timestamp(seconds=-(1 << 60)), Timestamp(nanos=-1), Timestamp(nanos=10**9)):
                request = json_format.ParseDict(VALID[method], GetMessageClass(descriptor.input_type)())
                *outer, last = path.split(".")
                inner = request
                for name in outer:
                    inner = getattr(inner, name)
                getattr(inner, last).CopyFrom(stamp)
                error = await send(method, request.SerializeToString())
                if list(error.fields) != [path]:
                    wrong.append((method, path, str(stamp), error.code, error.message[:80]))
    assert not wrong, "\n".join(map(str, wrong))


def find_times(descriptor: Descriptor, prefix: str = ""):
    for field in descriptor.fields:
        if field.message_type and not field.is_repeated:
            if field.message_type.full_name == "google.protobuf.Timestamp":
                yield prefix + field.name
            elif field.message_type.file.package == "hindsight.v1":
                yield from find_times(field.message_type, f"{prefix}{field.name}.")


async def test_the_entry_of_a_batch_is_named_too(services):
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada")) as client:
        results = await client.write_batch([NewMemory("k", "v"), NewMemory("k2", "v", derived_from=[ID])])
    assert [(r.outcome, r.field) for r in results] == [("created", ""), ("rejected", "memories[1].derived_from[0]")]
