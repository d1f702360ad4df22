-- A ready-made context begins with what an agent should always know: found without reading the whole bank.

CREATE INDEX memories_core ON memories (bank_id, memory_id) WHERE known_to IS NULL AND is_core;
