-- Reports are taken once their receipt is there, of those who may see it: whether an admin reported decides nothing any more.

DELETE FROM outcomes AS o WHERE NOT EXISTS (SELECT FROM receipts AS r WHERE r.bank_id = o.bank_id AND r.receipt_id = o.receipt_id);
ALTER TABLE outcomes DROP COLUMN by_admin;
