-- drafts: what a human left half typed when their screen went, one for an agent, until the
-- next screen takes it.
CREATE TABLE drafts (
  agent   INTEGER PRIMARY KEY REFERENCES agents(id),
  text    TEXT NOT NULL,
  pastes  TEXT NOT NULL DEFAULT '',            -- where in it pastes begin and end, as JSON that package ui/drafts reads
  left_at INTEGER NOT NULL
) STRICT;
