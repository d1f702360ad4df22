-- What is known of a session while it is observed, and the tasks that were found in it.

ALTER TABLE sessions
    ADD COLUMN kept_turn    integer NOT NULL DEFAULT 0,   -- what is worth keeping of the turns before it was decided
    ADD COLUMN task_turn    integer NOT NULL DEFAULT 0,   -- where its open task begins
    ADD COLUMN task_id      uuid,                         -- its last task
    ADD COLUMN is_reopened  boolean NOT NULL DEFAULT false,   -- the open task is the last one, gone on with
    ADD COLUMN pulse        jsonb NOT NULL DEFAULT '{}',  -- what the open task's turns came to so far
    ADD COLUMN heard_at     timestamptz NOT NULL DEFAULT now(),   -- when its last turn arrived
    ADD COLUMN due_at       timestamptz,                  -- when silence means something: a round, a task, the session is over
    ADD COLUMN summary_id   uuid,                         -- the memory that sums it up
    ADD COLUMN judged_by    text NOT NULL DEFAULT '';     -- who decided of its last round: rules, an LLM, or why not the latter
CREATE INDEX sessions_due ON sessions (due_at) WHERE due_at IS NOT NULL;

-- A piece of work inside a session: the turns first_turn to end_turn, looked back on once it is over.
CREATE TABLE tasks (
    bank_id       bigint NOT NULL,
    task_id       uuid NOT NULL,
    tenant_id     bigint NOT NULL,
    session_id    text NOT NULL,
    first_turn    integer NOT NULL,
    end_turn      integer NOT NULL,
    boundary      text NOT NULL CHECK (boundary IN ('client', 'done', 'chain', 'resolved', 'topic', 'idle', 'end')),
    outcome       text NOT NULL,
    note          text NOT NULL,
    state         text NOT NULL CHECK (state IN ('waiting', 'remembered', 'nothing')),
    reason        text NOT NULL DEFAULT '',
    judged_by     text NOT NULL DEFAULT '',
    experience_id uuid,
    memory_ids    uuid[] NOT NULL DEFAULT '{}',
    looks         integer NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL DEFAULT now(),
    looked_at     timestamptz,
    PRIMARY KEY (bank_id, task_id),
    FOREIGN KEY (bank_id, session_id) REFERENCES sessions,
    FOREIGN KEY (bank_id, tenant_id) REFERENCES agents (bank_id, tenant_id)
);
CREATE INDEX tasks_by_session ON tasks (bank_id, session_id, first_turn);

-- What an LLM was asked for a tenant on a day (UTC).
CREATE TABLE llm_use (
    tenant_id bigint NOT NULL REFERENCES tenants,
    day       date NOT NULL,
    calls     integer NOT NULL DEFAULT 0,
    tokens    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, day)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tasks', 'llm_use'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I USING (tenant_id = (SELECT app_tenant())) '
                       'WITH CHECK (tenant_id = (SELECT app_tenant()))', name);
        EXECUTE format('CREATE POLICY maintenance ON %I TO hindsight_maintenance USING (true) WITH CHECK (true)', name);
        EXECUTE format('ALTER TABLE %I OWNER TO hindsight_maintenance', name);
    END LOOP;
END $$;
GRANT SELECT ON tasks TO hindsight_recall;
GRANT SELECT, INSERT, UPDATE ON tasks, llm_use TO hindsight_ingest;
