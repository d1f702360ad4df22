-- Refused statements of a withdrawn source are held back like its turns: by which withdrawals, so that each is taken back by itself.

ALTER TABLE conflicts ADD COLUMN withdrawals uuid[] NOT NULL DEFAULT '{}';
GRANT UPDATE (withdrawals) ON conflicts TO hindsight_ingest;

-- What is withdrawn already. The span that was asked for is not known any more: everything up to the withdrawal is taken for it.
UPDATE conflicts AS c SET withdrawals = ARRAY(
    SELECT w.withdrawal_id FROM withdrawals AS w
    WHERE w.tenant_id = c.tenant_id AND w.reinstated_at IS NULL AND c.at <= w.at
        AND (EXISTS (SELECT FROM withdrawn AS h WHERE h.bank_id = c.bank_id AND h.withdrawal_id = w.withdrawal_id)
            OR EXISTS (SELECT FROM turns AS t WHERE t.bank_id = c.bank_id AND w.withdrawal_id = ANY (t.withdrawals)))
        AND ((w.kind = 'principal' AND w.source = c.principal)
            OR (w.kind = 'session' AND w.source = keyed_name(c.tenant_id, 'session', c.session_id))
            OR EXISTS (SELECT FROM turns AS t WHERE t.bank_id = c.bank_id AND t.session_id = c.session_id AND t.turn = c.turn
                AND w.withdrawal_id = ANY (t.withdrawals))));
