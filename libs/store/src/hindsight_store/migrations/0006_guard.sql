-- What the guard holds back or has doubts about, until a person has looked at it. Reasons and signs, never text: the text is the
-- memory's.

CREATE TABLE reviews (
    bank_id    bigint NOT NULL,
    memory_id  uuid NOT NULL,
    tenant_id  bigint NOT NULL,
    reason     text NOT NULL,
    signs      text[] NOT NULL,
    score      double precision NOT NULL,
    copies     integer NOT NULL DEFAULT 1,   -- how often the same was written while it waited
    state      text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected')),
    at         timestamptz NOT NULL,
    decided_by text NOT NULL DEFAULT '',
    decided_at timestamptz,
    PRIMARY KEY (bank_id, memory_id),
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX reviews_pending ON reviews (bank_id, memory_id) WHERE state = 'pending';

ALTER TABLE reviews ENABLE ROW LEVEL SECURITY;
ALTER TABLE reviews FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON reviews USING (tenant_id = (SELECT app_tenant())) WITH CHECK (tenant_id = (SELECT app_tenant()));
CREATE POLICY maintenance ON reviews TO hindsight_maintenance USING (true) WITH CHECK (true);
ALTER TABLE reviews OWNER TO hindsight_maintenance;
GRANT SELECT ON reviews TO hindsight_recall;
GRANT SELECT, INSERT, UPDATE ON reviews TO hindsight_ingest;

-- A turn that reads like an order to the agent stays as evidence and is not recalled.
ALTER TABLE turns ADD COLUMN is_withheld boolean NOT NULL DEFAULT false;
