-- audit: what agents called, what decided about it and what came of it; what humans answered, and which guards
-- stopped what. No text of a file, a message or a result stands here. hash covers the row and the hash of the row
-- before it, so rows are only appended, and have no gaps.
CREATE TABLE audit (
  id       INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  what     TEXT NOT NULL,              -- see package audit
  agent    INTEGER NOT NULL,           -- 0: none
  name     TEXT NOT NULL,              -- as the agent was called then
  turn     INTEGER NOT NULL,           -- 0: none
  call     TEXT NOT NULL,              -- the id of the call; unique within the agent
  tool     TEXT NOT NULL,
  args     TEXT NOT NULL,              -- JSON
  decision TEXT NOT NULL,
  ruled_by TEXT NOT NULL,              -- which rule, mode or answer decided
  outcome  TEXT NOT NULL,
  bytes    INTEGER NOT NULL,           -- of the result
  began    INTEGER,
  millis   INTEGER NOT NULL,
  hash     TEXT NOT NULL
) STRICT;
CREATE INDEX audit_of_call ON audit(agent, call) WHERE call <> '';
CREATE INDEX audit_of_name ON audit(name, id);
CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
