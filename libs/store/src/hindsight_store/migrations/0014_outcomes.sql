-- What became of an answer, as an agent reported it by receipt: one row a receipt, there as long as that is. The receipt is
-- recorded behind the answer and may come after its report, so nothing refers to it.

CREATE TABLE outcomes (
    bank_id      bigint NOT NULL,
    receipt_id   uuid NOT NULL,
    tenant_id    bigint NOT NULL,
    principal    text NOT NULL,
    by_admin     boolean NOT NULL,          -- who may report of every key's receipts
    outcome      text NOT NULL CHECK (outcome IN ('success', 'partial', 'failure')),
    note         text NOT NULL,
    final_prompt text NOT NULL,
    at           timestamptz NOT NULL,
    PRIMARY KEY (bank_id, receipt_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);

ALTER TABLE outcomes ENABLE ROW LEVEL SECURITY;
ALTER TABLE outcomes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON outcomes USING (tenant_id = (SELECT app_tenant())) WITH CHECK (tenant_id = (SELECT app_tenant()));
CREATE POLICY maintenance ON outcomes TO hindsight_maintenance USING (true) WITH CHECK (true);
ALTER TABLE outcomes OWNER TO hindsight_maintenance;
GRANT SELECT ON outcomes TO hindsight_recall;
GRANT SELECT, INSERT, UPDATE ON outcomes TO hindsight_ingest;
ALTER TABLE outcomes ALTER COLUMN note SET STATISTICS 0, ALTER COLUMN final_prompt SET STATISTICS 0;
