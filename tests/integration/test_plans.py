"""Every query on the hot paths uses its index, as the role that runs it sees the tables."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np
import pytest
from hindsight_memory import Hindsight, NewMemory
from hindsight_store import heard, outcomes, reader, relations, selections, words, writer
from hindsight_store.records import Selection
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

ROWS = 3000
VECTOR = HalfVector(np.ones(384, np.float32) / 384**0.5)
NOW = datetime.now(UTC)
SELECTION = selections.to_arguments(1, Selection(now=NOW, holds_after=NOW))
QUERY = words.terms("rare4471")
WANTED = (words.to_tsquery(QUERY), list(QUERY), [1.0] * len(QUERY), 100)

HOT: dict[str, tuple[str, tuple[Any, ...], str, set[str]]] = {
    "find a bank": (reader.FIND_BANK, (1, "ada"), "recall", {"agents_tenant_id_agent_id_key"}),
    "get": (reader.GET, (1, UUID(int=0)), "recall", {"memories_current"}),
    "list": (reader.PAGE, (*SELECTION, UUID(int=0), 10), "recall", {"memories_by_status", "memories_current"}),
    "newest": (reader.PAGE_NEWEST, (*SELECTION, None, 10), "recall", {"memories_by_status", "memories_current"}),
    "words": (reader.LEXICAL, (*SELECTION, *WANTED), "recall", {"memories_by_word"}),
    "meaning": (reader.NEAREST, (*SELECTION, 1, "content", VECTOR, 100), "recall", {"embeddings_pkey", "embeddings_by_memory"}),
    "features": (
        reader.FEATURES,
        (1, [UUID(int=0)], 1, VECTOR, list(QUERY), None),
        "recall",
        {"memories_current", "memories_pkey"},
    ),
    "standing": (reader.STANDING, (*SELECTION, 32), "recall", {"memories_standing"}),
    "time": (reader.WITHIN, (*SELECTION, NOW, NOW + timedelta(days=1), 30), "recall", {"memories_by_time"}),
    "hop": (reader.HOP, (*SELECTION, WANTED[0], WANTED[1], WANTED[2], 3, 20, 10), "recall", {"memories_by_word"}),
    "receipt": (reader.RECEIPT, (1, UUID(int=0)), "recall", {"receipts_pkey"}),
    "heard": (heard.ENDED, (1, ["s1"], [1], ["Ada likes tea."], [NOW], NOW), "recall", {"memories_by_turn"}),
    "reports": (outcomes.ASKED_OF, (1, UUID(int=0), "key", False), "ingest", {"receipts_pkey"}),
    "tags": (
        reader.PAGE_NEWEST,
        (*selections.to_arguments(1, Selection(now=datetime.now(UTC), any_tags=("t7",))), None, 10),
        "recall",
        {"memories_by_tag"},
    ),
    "relations": (relations.TO_SELECTED, (*SELECTION, [UUID(int=0)], 20), "recall", {"memory_relations_back"}),
    "relations of one": (
        relations.OF,
        (1, UUID(int=0), UUID(int=0), "", UUID(int=0), ["agent"], [], 20),
        "recall",
        {"memory_relations_back"},
    ),
    "conflicts": (reader.CONFLICTS, (1, ["agent"], [], None, 20, False), "recall", {"conflicts_pkey"}),
    "duplicates": (
        writer.NEIGHBOURS,
        (1, "agent", "key 7", 1, VECTOR, 0.83, 20, datetime.now(UTC)),
        "ingest",
        {"memories_by_key"},
    ),
    "request": (writer.FIND_REQUEST, (1, "k", "r", 1, b"hash"), "ingest", {"requests_pkey"}),
    "current": (writer.CURRENT, (1, [UUID(int=0)]), "ingest", {"memories_current", "memories_pkey"}),
}


@pytest.fixture
async def filled(services, client: Hindsight) -> Any:
    """A database with a bank of a few thousand memories and some others, analysed."""
    await client.write_batch([NewMemory(f"key {n}", f"memory {n} rare{n}", tags=[f"t{n}"]) for n in range(100)])
    owner = await asyncpg.connect(services.database.owner)
    await register_vector(owner)
    await owner.execute("SET ROLE hindsight_maintenance")
    columns = ", ".join(
        r["column_name"]
        for r in await owner.fetch("SELECT column_name FROM information_schema.columns WHERE table_name = 'memories'")
        if r["column_name"] not in ("memory_id", "words", "key", "tags")
    )
    await owner.execute(f"""INSERT INTO memories (memory_id, words, key, tags, {columns})
        SELECT gen_random_uuid(), ('''rare' || n || ''':1 ''memori'':1')::tsvector, 'key ' || n, ARRAY['t' || n], {columns}
        FROM (SELECT * FROM memories LIMIT 1) AS m, generate_series(1000, {1000 + ROWS}) AS n""")
    await owner.execute("""INSERT INTO agents (tenant_id, agent_id)
        SELECT tenant_id, 'other ' || n FROM tenants, generate_series(1, 2000) AS n WHERE name = 'acme'""")
    await owner.execute(f"""INSERT INTO memories (memory_id, words, key, tags, bank_id, {columns.replace("bank_id, ", "")})
        SELECT gen_random_uuid(), words, key, tags, 10 + n % 5, {columns.replace("bank_id, ", "")}
        FROM (SELECT * FROM memories LIMIT 1000) AS m, generate_series(1, 20) AS n""")
    await owner.execute("""INSERT INTO embeddings (bank_id, generation, channel, memory_id, revision, tenant_id, embedding)
        SELECT m.bank_id, 1, 'content', m.memory_id, 1, m.tenant_id, e.embedding
        FROM memories AS m, (SELECT embedding FROM embeddings LIMIT 1) AS e ON CONFLICT DO NOTHING""")
    await owner.execute("""INSERT INTO requests (bank_id, principal, request_id, tenant_id, content_hash, outcome)
        SELECT bank_id, 'k', n::text, tenant_id, '', '{}' FROM agents, generate_series(1, 5) AS n""")
    await owner.execute("""INSERT INTO memory_relations (bank_id, tenant_id, from_id, type, to_id, principal)
        SELECT bank_id, tenant_id, memory_id, 'follows', gen_random_uuid(), 'k' FROM memories""")
    await owner.execute("""INSERT INTO conflicts (bank_id, tenant_id, conflict_id, kept_id, rule, scope, kind, key, trigger,
            value, source, session_id, confidence, valid_from, principal, at)
        SELECT bank_id, tenant_id, gen_random_uuid(), memory_id, 'value', scope, kind, key, '', '', source, '', 1,
            valid_from, 'k', valid_from FROM memories""")
    await owner.execute("""INSERT INTO receipts (bank_id, receipt_id, tenant_id, principal, at, query, document)
        SELECT bank_id, gen_random_uuid(), tenant_id, 'k', now(), '', '' FROM agents, generate_series(1, 5)""")
    await owner.execute("RESET ROLE; ANALYZE")
    tenant_id = await owner.fetchval("SELECT tenant_id FROM tenants WHERE name = 'acme'")
    await owner.close()
    return tenant_id


async def test_every_hot_query_uses_its_index(services, filled):
    unindexed = {}
    for name, (statement, arguments, role, indexes) in HOT.items():
        connection = await asyncpg.connect(getattr(services.database, role))
        await connection.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
        await register_vector(connection)
        async with connection.transaction():
            await connection.execute(f"SELECT set_config('app.tenant', '{filled}', true)")
            plan = json.loads(await connection.fetchval(f"EXPLAIN (FORMAT JSON) {statement}", *arguments))
        await connection.close()
        used = set(_indexes(plan[0]["Plan"]))
        if not used & indexes:
            unindexed[name] = used
    assert unindexed == {}


def _indexes(node: dict[str, Any]):
    if "Index Name" in node:
        yield node["Index Name"]
    for child in node.get("Plans", []):
        yield from _indexes(child)
