-- Statements that were refused because they contradict a memory that was kept: what a person needs to look at them again.

CREATE TABLE conflicts (
    bank_id     bigint NOT NULL,
    conflict_id uuid NOT NULL,
    tenant_id   bigint NOT NULL,
    kept_id     uuid NOT NULL,
    rule        text NOT NULL,
    scope       text NOT NULL,
    kind        text NOT NULL,
    key         text NOT NULL,
    trigger     text NOT NULL,
    value       text NOT NULL,
    source      text NOT NULL,
    session_id  text NOT NULL,
    turn        integer,
    confidence  double precision NOT NULL,
    valid_from  timestamptz NOT NULL,
    principal   text NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (bank_id, conflict_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX conflicts_by_kept ON conflicts (bank_id, kept_id);

ALTER TABLE conflicts ENABLE ROW LEVEL SECURITY;
ALTER TABLE conflicts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON conflicts USING (tenant_id = (SELECT app_tenant())) WITH CHECK (tenant_id = (SELECT app_tenant()));
CREATE POLICY maintenance ON conflicts TO hindsight_maintenance USING (true) WITH CHECK (true);
ALTER TABLE conflicts OWNER TO hindsight_maintenance;
GRANT SELECT ON conflicts TO hindsight_recall, hindsight_ingest;
GRANT INSERT ON conflicts TO hindsight_ingest;

-- The same relation written again changes its weight.
GRANT UPDATE ON memory_relations TO hindsight_ingest;
