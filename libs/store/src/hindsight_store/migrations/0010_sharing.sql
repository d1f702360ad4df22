-- Which memories of an agent another agent of the tenant may read or write.

CREATE TABLE grants (
    bank_id         bigint NOT NULL,               -- the owner's
    grant_id        uuid NOT NULL,
    tenant_id       bigint NOT NULL,
    grantee_bank_id bigint NOT NULL,
    scope           text NOT NULL,                 -- a trailing "*" makes a prefix
    key_prefix      text NOT NULL,
    access          text NOT NULL CHECK (access IN ('read', 'write')),
    created_by      text NOT NULL,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz,
    revoked_at      timestamptz,
    PRIMARY KEY (bank_id, grant_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id),
    FOREIGN KEY (grantee_bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id),
    CHECK (grantee_bank_id <> bank_id)
);
CREATE INDEX grants_in_force ON grants (grantee_bank_id) WHERE revoked_at IS NULL;
CREATE INDEX grants_by_grantee ON grants (grantee_bank_id, grant_id);

ALTER TABLE grants ENABLE ROW LEVEL SECURITY;
ALTER TABLE grants FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON grants USING (tenant_id = (SELECT app_tenant())) WITH CHECK (tenant_id = (SELECT app_tenant()));
CREATE POLICY maintenance ON grants TO hindsight_maintenance USING (true) WITH CHECK (true);
ALTER TABLE grants OWNER TO hindsight_maintenance;
GRANT SELECT ON grants TO hindsight_recall;
GRANT SELECT, INSERT ON grants TO hindsight_ingest;
GRANT UPDATE (revoked_at) ON grants TO hindsight_ingest;
