-- checks: commands that the human lets observers run in the workspace, which they can't change.
CREATE TABLE checks (
  name       TEXT PRIMARY KEY,
  argv       TEXT NOT NULL,                    -- the program and its arguments, as JSON
  net        TEXT NOT NULL DEFAULT '',         -- the host it reaches a network for; '': it has none
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- observers: what each agent of that kind was started for. It lives as long as its agent.
CREATE TABLE observers (
  agent       INTEGER PRIMARY KEY REFERENCES agents(id),
  schedule    INTEGER NOT NULL,                -- that started it
  name        TEXT NOT NULL,                   -- of the schedule
  prompt      TEXT NOT NULL,
  cancel_when TEXT NOT NULL DEFAULT '',        -- the condition under which it ends its schedule; '': none
  dir         TEXT NOT NULL,                   -- where it looks
  checks      TEXT NOT NULL DEFAULT '[]',      -- the names of those it may run, as JSON
  mark        TEXT NOT NULL DEFAULT '',        -- what its report begins with: that it is late, say
  deliver     TEXT NOT NULL,                   -- of its report
  priority    TEXT NOT NULL
) STRICT;
CREATE INDEX observers_of_schedule ON observers(schedule, agent);
