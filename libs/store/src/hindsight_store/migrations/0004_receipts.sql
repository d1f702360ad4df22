-- What recall needs beside the channels: standing instructions and preferences, moments, and an account of every recall.

ALTER TABLE memories ADD COLUMN standing text NOT NULL DEFAULT '' CHECK (standing IN ('', 'instruction', 'preference'));
CREATE INDEX memories_standing ON memories (bank_id, scope, memory_id) WHERE known_to IS NULL AND standing <> '';
CREATE INDEX memories_by_time ON memories (bank_id, valid_from) WHERE known_to IS NULL;
CREATE INDEX turns_by_time ON turns (bank_id, at);

-- One row a recall, written off its path. The document is the account itself, compressed; the query is the only text of a person.
CREATE TABLE receipts (
    bank_id    bigint NOT NULL,
    receipt_id uuid NOT NULL,
    tenant_id  bigint NOT NULL,
    principal  text NOT NULL,
    at         timestamptz NOT NULL,
    query      text NOT NULL,
    document   bytea NOT NULL,
    PRIMARY KEY (bank_id, receipt_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX receipts_by_age ON receipts (at);

ALTER TABLE receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE receipts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON receipts USING (tenant_id = (SELECT app_tenant())) WITH CHECK (tenant_id = (SELECT app_tenant()));
CREATE POLICY maintenance ON receipts TO hindsight_maintenance USING (true) WITH CHECK (true);
ALTER TABLE receipts OWNER TO hindsight_maintenance;
GRANT SELECT ON receipts TO hindsight_recall;
GRANT SELECT, INSERT ON receipts TO hindsight_ingest;
