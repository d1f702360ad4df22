-- The tenants that have work, and each one's oldest, without reading anybody's backlog.
CREATE INDEX jobs_of_tenant ON jobs (tenant_id, run_after) WHERE state <> 'dead';
