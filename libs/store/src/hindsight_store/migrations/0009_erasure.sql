-- Withdrawing what came from a hostile source, exactly undoable; and erasing for good, with a receipt. Neither table holds text:
-- sessions, tools and scopes, which clients name, stand here as hashes under the tenant's key.

CREATE TABLE withdrawals (
    tenant_id     bigint NOT NULL REFERENCES tenants,
    withdrawal_id uuid NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('principal', 'session', 'tool', 'memory')),
    source        text NOT NULL,            -- a key or memory by its id, anything else as a hash
    principal     text NOT NULL,
    request_name  text NOT NULL DEFAULT '',
    at            timestamptz NOT NULL,
    reinstated_at timestamptz,
    withdrawn     integer NOT NULL,
    rolled_back   integer NOT NULL,
    turns         integer NOT NULL,
    PRIMARY KEY (tenant_id, withdrawal_id)
);
CREATE UNIQUE INDEX withdrawals_by_request ON withdrawals (tenant_id, principal, request_name) WHERE request_name <> '';

-- What a withdrawal did to a memory: its revision before, the one that was made (none: it was hidden already), the first that came
-- from the source, and the review that was replaced.
CREATE TABLE withdrawn (
    bank_id         bigint NOT NULL,
    withdrawal_id   uuid NOT NULL,
    memory_id       uuid NOT NULL,
    tenant_id       bigint NOT NULL,
    first_revision  integer NOT NULL,
    former_revision integer NOT NULL,
    made_revision   integer,
    former_review   jsonb,
    PRIMARY KEY (bank_id, withdrawal_id, memory_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX withdrawn_by_memory ON withdrawn (bank_id, memory_id);

-- The withdrawals that hold a turn back; several may.
ALTER TABLE turns ADD COLUMN withdrawals uuid[] NOT NULL DEFAULT '{}';
GRANT UPDATE (withdrawals) ON turns TO hindsight_ingest;
GRANT SELECT (withdrawals) ON turns TO hindsight_recall;

CREATE TABLE erasures (
    tenant_id         bigint NOT NULL REFERENCES tenants,
    erasure_id        uuid NOT NULL,
    bank_ids          bigint[] NOT NULL,
    kind              text NOT NULL CHECK (kind IN ('scope', 'principal', 'session', 'tool', 'memory')),
    name_hash         text NOT NULL,
    name              text,                 -- what to erase; gone with it
    since             timestamptz,
    until             timestamptz,
    is_rewritten      boolean NOT NULL,
    principal         text NOT NULL,
    request_name      text NOT NULL DEFAULT '',
    state             text NOT NULL CHECK (state IN ('pending', 'removed', 'done')),
    asked_at          timestamptz NOT NULL,
    removed_at        timestamptz,
    vacuumed_at       timestamptz,
    caches_cleared_at timestamptz,
    counts            jsonb NOT NULL DEFAULT '{}',
    ids               bytea[] NOT NULL DEFAULT '{}',   -- hashes of the ids of the erased memories
    ids_digest        text NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, erasure_id)
);
CREATE UNIQUE INDEX erasures_by_request ON erasures (tenant_id, principal, request_name) WHERE request_name <> '';

-- Within which scope was asked, so that what was asked of a user can be erased with the user; empty: none, or the agent's own.
ALTER TABLE receipts ADD COLUMN scope text NOT NULL DEFAULT '';
ALTER TABLE memory_hits ADD COLUMN scope text NOT NULL DEFAULT '';
CREATE INDEX memory_hits_by_scope ON memory_hits (bank_id, scope) WHERE scope <> '';

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['withdrawals', 'withdrawn', 'erasures'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I USING (tenant_id = (SELECT app_tenant())) '
                       'WITH CHECK (tenant_id = (SELECT app_tenant()))', name);
        EXECUTE format('CREATE POLICY maintenance ON %I TO hindsight_maintenance USING (true) WITH CHECK (true)', name);
        EXECUTE format('ALTER TABLE %I OWNER TO hindsight_maintenance', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE ON withdrawals, withdrawn TO hindsight_ingest;
GRANT SELECT, INSERT ON erasures TO hindsight_ingest;

-- Free text leaves no samples in the planner's statistics, which no erasure would reach.
ALTER TABLE memories ALTER COLUMN trigger SET STATISTICS 0, ALTER COLUMN value SET STATISTICS 0, ALTER COLUMN metadata SET STATISTICS 0;
ALTER TABLE turns ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN arguments SET STATISTICS 0, ALTER COLUMN result SET STATISTICS 0;
ALTER TABLE conflicts ALTER COLUMN key SET STATISTICS 0, ALTER COLUMN trigger SET STATISTICS 0, ALTER COLUMN value SET STATISTICS 0;
ALTER TABLE memory_hits ALTER COLUMN query SET STATISTICS 0;
ALTER TABLE receipts ALTER COLUMN query SET STATISTICS 0, ALTER COLUMN document SET STATISTICS 0;
ALTER TABLE tasks ALTER COLUMN note SET STATISTICS 0;
ALTER TABLE sessions ALTER COLUMN pulse SET STATISTICS 0;
