-- Recall knows which revisions came from a source that is withdrawn, so that it shows them as of no moment; and the request id of
-- a withdrawal stands for what was asked under it.

GRANT SELECT (tenant_id, withdrawal_id, reinstated_at) ON withdrawals TO hindsight_recall;
GRANT SELECT (bank_id, withdrawal_id, memory_id, tenant_id, first_revision, made_revision) ON withdrawn TO hindsight_recall;

ALTER TABLE withdrawals ADD COLUMN asked text NOT NULL DEFAULT '';   -- the agent, source and span, as a hash; empty: not known
