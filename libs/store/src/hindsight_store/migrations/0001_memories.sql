-- Everything an agent remembers. bank_id (one agent's memories) comes first in every key: it is the distribution column.
-- Times are timestamptz; ranges are half-open; an open end is NULL.

CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE TABLE tenants (
    tenant_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    tenant_id        bigint NOT NULL REFERENCES tenants,
    key_id           text NOT NULL,
    secret_hash      bytea NOT NULL UNIQUE,
    name             text NOT NULL,
    agent_ids        text[] NOT NULL,
    default_agent_id text NOT NULL,
    scopes           text[] NOT NULL,
    rights           text[] NOT NULL,
    sources          text[] NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    expires_at       timestamptz,
    revoked_at       timestamptz,
    PRIMARY KEY (tenant_id, key_id)
);

-- One row for a request id of a call that has no bank, so that its repeat is noticed.
CREATE TABLE admin_requests (
    tenant_id  bigint NOT NULL REFERENCES tenants,
    principal  text NOT NULL,
    request_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, principal, request_id)
);

CREATE TABLE agents (
    bank_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  bigint NOT NULL REFERENCES tenants,
    agent_id   text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, agent_id),
    UNIQUE (bank_id, tenant_id)
);

-- All embeddings of one model. Holds no tenant's text.
CREATE TABLE generations (
    generation     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model_id       text NOT NULL,
    model_revision text NOT NULL,
    dimension      integer NOT NULL,
    window_tokens  integer NOT NULL,
    state          text NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    created_at     timestamptz NOT NULL DEFAULT now(),
    UNIQUE (model_id, model_revision)
);
CREATE UNIQUE INDEX generations_active ON generations (state) WHERE state = 'active';

-- Append-only versions: a change ends the current row's record time (known_to) and adds a row.
CREATE TABLE memories (
    bank_id        bigint NOT NULL,
    memory_id      uuid NOT NULL,
    revision       integer NOT NULL,
    tenant_id      bigint NOT NULL,
    scope          text NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('preference', 'fact', 'entity', 'state', 'correction', 'summary', 'experience')),
    key            text NOT NULL,
    trigger        text NOT NULL,
    value          text NOT NULL,
    tags           text[] NOT NULL,
    importance     double precision NOT NULL CHECK (importance BETWEEN 0 AND 1),
    confidence     double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    source         text NOT NULL CHECK (source IN ('user', 'tool', 'inference', 'retrospective', 'import')),
    session_id     text NOT NULL,
    turn           integer,
    principal      text NOT NULL,
    trust          double precision NOT NULL CHECK (trust BETWEEN 0 AND 1),
    metadata       jsonb NOT NULL,
    is_core        boolean NOT NULL,
    status         text NOT NULL CHECK (status IN ('active', 'pending_review', 'superseded', 'archived', 'deletable', 'deleted')),
    derived_from   uuid[] NOT NULL,
    valid_from     timestamptz NOT NULL,
    valid_to       timestamptz,
    known_from     timestamptz NOT NULL,
    known_to       timestamptz,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz,
    words          tsvector NOT NULL,
    word_count     integer NOT NULL,
    PRIMARY KEY (bank_id, memory_id, revision),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id),
    CHECK (valid_to IS NULL OR valid_to > valid_from)
);
CREATE UNIQUE INDEX memories_current ON memories (bank_id, memory_id) WHERE known_to IS NULL;
CREATE INDEX memories_by_status ON memories (bank_id, status, memory_id) WHERE known_to IS NULL;
CREATE INDEX memories_by_key ON memories (bank_id, key text_pattern_ops, scope) WHERE known_to IS NULL;
CREATE INDEX memories_by_word ON memories USING gin (bank_id, words) WITH (fastupdate = off)
    WHERE known_to IS NULL;
CREATE INDEX memories_by_tag ON memories USING gin (bank_id, tags) WITH (fastupdate = off) WHERE known_to IS NULL;

-- Narrow and often updated, so apart from the wide rows.
CREATE TABLE memory_use (
    bank_id     bigint NOT NULL,
    memory_id   uuid NOT NULL,
    tenant_id   bigint NOT NULL,
    hit_count   bigint NOT NULL DEFAULT 0,
    last_hit_at timestamptz,
    utility     double precision NOT NULL DEFAULT 1,
    PRIMARY KEY (bank_id, memory_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);

CREATE TABLE memory_hits (
    bank_id   bigint NOT NULL,
    hit_id    uuid NOT NULL,
    memory_id uuid NOT NULL,
    tenant_id bigint NOT NULL,
    query     text NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (bank_id, hit_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX memory_hits_by_memory ON memory_hits (bank_id, memory_id, at);

-- No fixed dimension: another generation may have another one. Large banks get partial HNSW indexes over a cast.
CREATE TABLE embeddings (
    bank_id    bigint NOT NULL,
    generation integer NOT NULL REFERENCES generations,
    channel    text NOT NULL CHECK (channel IN ('content', 'trigger')),
    memory_id  uuid NOT NULL,
    revision   integer NOT NULL,
    tenant_id  bigint NOT NULL,
    embedding  halfvec NOT NULL,
    PRIMARY KEY (bank_id, generation, channel, memory_id, revision),
    FOREIGN KEY (bank_id, memory_id, revision) REFERENCES memories
);
CREATE INDEX embeddings_by_memory ON embeddings (bank_id, memory_id, revision);

CREATE TABLE memory_relations (
    bank_id    bigint NOT NULL,
    from_id    uuid NOT NULL,
    type       text NOT NULL CHECK (length(type) BETWEEN 1 AND 32),
    to_id      uuid NOT NULL,
    tenant_id  bigint NOT NULL,
    weight     double precision NOT NULL DEFAULT 1,
    principal  text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bank_id, from_id, type, to_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX memory_relations_back ON memory_relations (bank_id, to_id);

CREATE TABLE sessions (
    bank_id      bigint NOT NULL,
    session_id   text NOT NULL,
    tenant_id    bigint NOT NULL,
    scope        text NOT NULL,
    started_at   timestamptz NOT NULL,
    last_turn_at timestamptz NOT NULL,
    ended_at     timestamptz,
    PRIMARY KEY (bank_id, session_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);

CREATE TABLE turns (
    bank_id    bigint NOT NULL,
    session_id text NOT NULL,
    turn       integer NOT NULL,
    tenant_id  bigint NOT NULL,
    scope      text NOT NULL,
    role       text NOT NULL CHECK (role IN ('user', 'assistant', 'tool_call', 'tool_result')),
    content    text NOT NULL,
    tool       text NOT NULL,
    arguments  jsonb NOT NULL,
    result     text NOT NULL,
    is_error   boolean NOT NULL,
    masked     text[] NOT NULL,
    principal  text NOT NULL,
    at         timestamptz NOT NULL,
    known_from timestamptz NOT NULL,
    words      tsvector NOT NULL,
    word_count integer NOT NULL,
    PRIMARY KEY (bank_id, session_id, turn),
    FOREIGN KEY (bank_id, session_id) REFERENCES sessions,
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX turns_by_word ON turns USING gin (bank_id, words) WITH (fastupdate = off);
CREATE INDEX turns_by_age ON turns (bank_id, known_from);

-- A turn is embedded alone and together with the one before it.
CREATE TABLE turn_embeddings (
    bank_id    bigint NOT NULL,
    generation integer NOT NULL REFERENCES generations,
    channel    text NOT NULL CHECK (channel IN ('turn', 'window')),
    session_id text NOT NULL,
    turn       integer NOT NULL,
    tenant_id  bigint NOT NULL,
    embedding  halfvec NOT NULL,
    PRIMARY KEY (bank_id, generation, channel, session_id, turn),
    FOREIGN KEY (bank_id, session_id, turn) REFERENCES turns ON DELETE CASCADE
);

-- What a request id stands for: a hash of the normalised call and its outcome. Ids and outcomes, never text.
CREATE TABLE requests (
    bank_id      bigint NOT NULL,
    principal    text NOT NULL,
    request_id   text NOT NULL,
    tenant_id    bigint NOT NULL,
    content_hash bytea NOT NULL,
    outcome      jsonb NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bank_id, principal, request_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);

-- Follow-up work, written in the transaction of the change it follows. The payload holds ids only.
CREATE TABLE jobs (
    bank_id      bigint NOT NULL,
    job_id       uuid NOT NULL,
    tenant_id    bigint NOT NULL,
    kind         text NOT NULL,
    payload      jsonb NOT NULL,
    state        text NOT NULL CHECK (state IN ('queued', 'running', 'dead')),
    attempts     integer NOT NULL DEFAULT 0,
    run_after    timestamptz NOT NULL DEFAULT now(),
    leased_until timestamptz,
    lease        uuid,
    error        text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bank_id, job_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX jobs_due ON jobs (run_after) WHERE state <> 'dead';

-- Append-only: no role may change or remove a row. Ids and outcomes, never text.
CREATE TABLE audit (
    tenant_id bigint NOT NULL REFERENCES tenants,
    audit_id  uuid NOT NULL,
    at        timestamptz NOT NULL DEFAULT now(),
    principal text NOT NULL,
    action    text NOT NULL,
    subject   text NOT NULL,
    outcome   text NOT NULL,
    PRIMARY KEY (tenant_id, audit_id)
);
