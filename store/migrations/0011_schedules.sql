-- schedules: what is due when. A row that is active has its next time in due_at; the row of one that ended stays.
CREATE TABLE schedules (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT NOT NULL,                    -- unique among those that have not ended
  owner       INTEGER NOT NULL REFERENCES agents(id), -- who registered it, and gets its mail
  origin      TEXT NOT NULL,                    -- human agent cli
  kind        TEXT NOT NULL,                    -- reminder task command
  text        TEXT NOT NULL,                    -- what is to be said or done
  cancel_when TEXT NOT NULL DEFAULT '',         -- a task's condition to end its schedule
  checks      TEXT NOT NULL DEFAULT '',         -- names of the checks a task may run, with spaces
  dir         TEXT NOT NULL DEFAULT '',         -- where it is done; '': the workspace
  always      INTEGER NOT NULL DEFAULT 0,       -- a command reports each outcome, not only a changed one
  deliver     TEXT NOT NULL,
  priority    TEXT NOT NULL,
  said        TEXT NOT NULL,                    -- when, as people read it
  delay_ms    INTEGER NOT NULL DEFAULT 0,
  every_ms    INTEGER NOT NULL DEFAULT 0,
  cron        TEXT NOT NULL DEFAULT '',
  at          INTEGER,
  state       TEXT NOT NULL DEFAULT 'active',   -- active paused ended
  why         TEXT NOT NULL DEFAULT '',         -- it ended
  due_at      INTEGER,                          -- NULL unless active
  runs        INTEGER NOT NULL DEFAULT 0,
  failures    INTEGER NOT NULL DEFAULT 0,       -- in a row that could not start
  created_at  INTEGER NOT NULL,
  CHECK ((state = 'active') = (due_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX schedules_named ON schedules(name) WHERE state <> 'ended';
CREATE INDEX schedules_due ON schedules(due_at, id) WHERE due_at IS NOT NULL;

-- schedule_runs: each time one fired. A run that has not ended holds the next one up.
CREATE TABLE schedule_runs (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  schedule INTEGER NOT NULL REFERENCES schedules(id),
  due_at   INTEGER NOT NULL,
  fired_at INTEGER NOT NULL,
  missed   INTEGER NOT NULL DEFAULT 0,          -- the times it was due before, and nobody was there
  task     INTEGER REFERENCES tasks(id),        -- that carries it out
  agent    INTEGER REFERENCES agents(id),       -- that carries it out
  message  INTEGER REFERENCES messages(id),     -- that tells of it
  outcome  TEXT NOT NULL DEFAULT '',
  finding  TEXT NOT NULL DEFAULT '',            -- the beginning of what it found
  ended_at INTEGER
) STRICT;
CREATE INDEX schedule_runs_of ON schedule_runs(schedule, id);
CREATE INDEX schedule_runs_open ON schedule_runs(schedule) WHERE ended_at IS NULL;
CREATE INDEX schedule_runs_of_task ON schedule_runs(task) WHERE task IS NOT NULL;
CREATE INDEX schedule_runs_of_agent ON schedule_runs(agent) WHERE agent IS NOT NULL;
CREATE INDEX schedule_runs_fired ON schedule_runs(fired_at);
