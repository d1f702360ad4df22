-- Who may touch what. Services connect as hindsight_ingest and hindsight_recall, which own nothing; hindsight_maintenance owns
-- the tables (building an index needs that) and is let through by a policy of its own, since row security is forced on owners too.

CREATE FUNCTION app_tenant() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('app.tenant', true), '')::bigint;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tenants', 'api_keys', 'admin_requests', 'agents', 'memories', 'memory_use', 'memory_hits', 'embeddings',
                                'memory_relations', 'sessions', 'turns', 'turn_embeddings', 'requests', 'jobs', 'audit'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I USING (tenant_id = (SELECT app_tenant())) '
                       'WITH CHECK (tenant_id = (SELECT app_tenant()))', name);
        EXECUTE format('CREATE POLICY maintenance ON %I TO hindsight_maintenance USING (true) WITH CHECK (true)', name);
        EXECUTE format('ALTER TABLE %I OWNER TO hindsight_maintenance', name);
    END LOOP;
END $$;
ALTER TABLE generations OWNER TO hindsight_maintenance;

GRANT SELECT ON tenants, agents, memories, memory_use, memory_hits, embeddings, memory_relations, sessions, turns,
    turn_embeddings, generations TO hindsight_recall;

GRANT SELECT ON tenants, api_keys, admin_requests, agents, memories, memory_use, memory_hits, embeddings, memory_relations, sessions, turns,
    turn_embeddings, generations, requests, jobs TO hindsight_ingest;
GRANT INSERT ON api_keys, admin_requests, agents, memories, memory_use, memory_hits, embeddings, memory_relations, sessions, turns,
    turn_embeddings, requests, jobs, audit, generations TO hindsight_ingest;
GRANT UPDATE ON api_keys, memories, memory_use, sessions, jobs TO hindsight_ingest;
GRANT DELETE ON memory_relations, requests, jobs TO hindsight_ingest;

-- The questions that come before a tenant is known. Each answers for one exact name or hash only.
CREATE FUNCTION find_key(hash bytea) RETURNS TABLE (
    tenant_id bigint, tenant text, key_id text, name text, agent_ids text[], default_agent_id text, scopes text[], rights text[],
    sources text[], created_at timestamptz, expires_at timestamptz, revoked_at timestamptz
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT k.tenant_id, t.name, k.key_id, k.name, k.agent_ids, k.default_agent_id, k.scopes, k.rights, k.sources, k.created_at,
           k.expires_at, k.revoked_at
    FROM public.api_keys AS k JOIN public.tenants AS t USING (tenant_id) WHERE k.secret_hash = hash
$$;
CREATE FUNCTION find_tenant(tenant_name text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT t.tenant_id FROM public.tenants AS t WHERE t.name = tenant_name
$$;
CREATE FUNCTION ensure_tenant(tenant_name text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
BEGIN
    INSERT INTO public.tenants (name) VALUES (tenant_name) ON CONFLICT DO NOTHING;
    RETURN public.find_tenant(tenant_name);
END $$;
ALTER FUNCTION find_key(bytea) OWNER TO hindsight_maintenance;
ALTER FUNCTION find_tenant(text) OWNER TO hindsight_maintenance;
ALTER FUNCTION ensure_tenant(text) OWNER TO hindsight_maintenance;
REVOKE ALL ON FUNCTION find_key(bytea), find_tenant(text), ensure_tenant(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_key(bytea), find_tenant(text) TO hindsight_ingest, hindsight_recall;
GRANT EXECUTE ON FUNCTION ensure_tenant(text) TO hindsight_ingest;
