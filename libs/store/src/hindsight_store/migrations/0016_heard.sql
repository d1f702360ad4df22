-- What was heard in a turn, by the turn: a copy of it on a desk is shown while the memory that it became is in force.

CREATE INDEX memories_by_turn ON memories (bank_id, session_id, turn) WHERE session_id <> '' AND turn IS NOT NULL;
