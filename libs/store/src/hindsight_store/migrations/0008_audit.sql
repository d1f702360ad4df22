-- An account of every change, and no client's text in the tables that are to hold none: what clients name freely (request ids,
-- sessions, scopes) stands there as a hash under the tenant's own key, so that erased text cannot be guessed from it.

ALTER TABLE tenants ADD COLUMN hash_key bytea NOT NULL
    DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
REVOKE SELECT ON tenants FROM hindsight_recall;
GRANT SELECT (tenant_id, name, created_at) ON tenants TO hindsight_recall;

-- Hashed twice under the key, as in HMAC, so that no hash of a longer text follows from that of a shorter. `named` says what it is.
CREATE FUNCTION keyed_hash(tenant bigint, named text, content bytea) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT sha256(t.hash_key || sha256(t.hash_key || convert_to(named, 'UTF8') || '\x00'::bytea || content))
    FROM tenants AS t WHERE t.tenant_id = tenant
$$;
CREATE FUNCTION keyed_name(tenant bigint, named text, content text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT encode(keyed_hash(tenant, named, convert_to(content, 'UTF8')), 'hex')
$$;

UPDATE requests SET request_id = keyed_name(tenant_id, 'request', request_id),
    content_hash = keyed_hash(tenant_id, 'content', content_hash);
UPDATE admin_requests SET request_id = keyed_name(tenant_id, 'request', request_id);
-- The session that a call was about, by its keyed name; empty: none.
ALTER TABLE requests ADD COLUMN session_name text NOT NULL DEFAULT '';

ALTER TABLE audit ADD COLUMN bank_id bigint;   -- the agent's; NULL: of the whole tenant
GRANT SELECT ON audit TO hindsight_ingest;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_as_a_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
