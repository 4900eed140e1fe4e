-- Ids are AUTOINCREMENT: they give the order and are never used again.
-- Times are UTC milliseconds from the program's clock, for display only.

-- agents: who takes part. Written by agents through package store.
CREATE TABLE agents (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  kind       TEXT NOT NULL,                     -- main helper sub fork headless
  trust      TEXT NOT NULL DEFAULT 'attended',  -- attended headless
  parent     INTEGER REFERENCES agents(id),
  task       INTEGER REFERENCES tasks(id),
  model      TEXT NOT NULL,                     -- provider/name
  state      TEXT NOT NULL,                     -- the last state its loop reported
  created_at INTEGER NOT NULL,
  ended_at   INTEGER,
  closed_at  INTEGER                            -- its tab was closed; the name is free again
) STRICT;
CREATE UNIQUE INDEX agents_name ON agents(name) WHERE closed_at IS NULL;
CREATE INDEX agents_named ON agents(name);

-- turns: idle to idle of one agent. outcome is '' while the turn runs.
CREATE TABLE turns (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  agent        INTEGER NOT NULL REFERENCES agents(id),
  parent_turn  INTEGER REFERENCES turns(id),
  conversation INTEGER NOT NULL,
  spawned_by   INTEGER REFERENCES turns(id),
  kind         TEXT NOT NULL,                   -- agent async_subagent
  outcome      TEXT NOT NULL DEFAULT '',        -- completed interrupted failed timed_out killed crashed
  error        TEXT NOT NULL DEFAULT '',
  sent_up_to   INTEGER NOT NULL DEFAULT 0,      -- the last entry a request carried
  steps        INTEGER NOT NULL DEFAULT 0,
  input        INTEGER NOT NULL DEFAULT 0,
  output       INTEGER NOT NULL DEFAULT 0,
  cache_read   INTEGER NOT NULL DEFAULT 0,
  cache_write  INTEGER NOT NULL DEFAULT 0,
  cost         INTEGER NOT NULL DEFAULT 0,      -- millionths of a dollar
  context      INTEGER NOT NULL DEFAULT 0,      -- tokens after the last request
  started_at   INTEGER NOT NULL,
  ended_at     INTEGER
) STRICT;
CREATE INDEX turns_of_agent ON turns(agent, id);
CREATE INDEX turns_running ON turns(id) WHERE outcome = '';

-- entries: the transcripts. Append-only; data is JSON that package agents reads.
CREATE TABLE entries (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  agent      INTEGER NOT NULL REFERENCES agents(id),
  turn       INTEGER REFERENCES turns(id),      -- NULL: appended at rest
  kind       TEXT NOT NULL,
  data       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX entries_of_agent ON entries(agent, seq);
CREATE INDEX entries_of_turn ON entries(turn, seq) WHERE turn IS NOT NULL;
CREATE INDEX entries_of_kind ON entries(agent, kind, seq);
CREATE TRIGGER entries_are_append_only_update BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_are_append_only_delete BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;

-- prompts: typed by the human, waiting for a seam. entry is set when it entered.
CREATE TABLE prompts (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  agent      INTEGER NOT NULL REFERENCES agents(id),
  text       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  held       INTEGER NOT NULL DEFAULT 0,        -- 1: shown as queued, not sent by itself (after a crash)
  entry      INTEGER REFERENCES entries(seq),
  removed_at INTEGER
) STRICT;
CREATE INDEX prompts_waiting ON prompts(agent, id) WHERE entry IS NULL AND removed_at IS NULL;

-- tasks: queued work.
CREATE TABLE tasks (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  queue       INTEGER NOT NULL REFERENCES agents(id),  -- whose queue it stands in
  name        TEXT NOT NULL,
  prompt      TEXT NOT NULL,
  model       TEXT NOT NULL,
  timeout_ms  INTEGER NOT NULL DEFAULT 0,
  deliver     TEXT NOT NULL,                    -- hold next wake
  spawned_by  INTEGER REFERENCES turns(id),
  state       TEXT NOT NULL DEFAULT 'queued',   -- queued running finished removed
  outcome     TEXT NOT NULL DEFAULT '',
  error       TEXT NOT NULL DEFAULT '',
  agent       INTEGER REFERENCES agents(id),    -- who carries it out
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX tasks_of_queue ON tasks(queue, id);
CREATE INDEX tasks_queued ON tasks(queue, id) WHERE state = 'queued';
CREATE INDEX tasks_running ON tasks(id) WHERE state = 'running';
CREATE UNIQUE INDEX tasks_open_name ON tasks(name) WHERE state IN ('queued', 'running');

-- messages: the inboxes. Owned by package inbox; a row is taken once and kept.
CREATE TABLE messages (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  recipient      INTEGER NOT NULL REFERENCES agents(id),
  sender         INTEGER REFERENCES agents(id),  -- NULL: from outside
  sender_name    TEXT NOT NULL,                  -- as it was called then
  kind           TEXT NOT NULL,                  -- result failure mail reminder scheduled question approval notice
  deliver        TEXT NOT NULL,                  -- hold next wake
  priority       TEXT NOT NULL DEFAULT 'normal',
  tags           TEXT NOT NULL DEFAULT '[]',
  subject        TEXT NOT NULL DEFAULT '',       -- the task's prompt, for results and failures
  body           BLOB NOT NULL,
  outcome        TEXT NOT NULL DEFAULT '',
  error          TEXT NOT NULL DEFAULT '',
  partial_output BLOB NOT NULL DEFAULT x'',
  task           INTEGER REFERENCES tasks(id),
  in_reply_to    INTEGER REFERENCES messages(id),
  key            TEXT,
  created_at     INTEGER NOT NULL,
  taken_at       INTEGER,
  taken_by       TEXT NOT NULL DEFAULT '',       -- check receive next fire turn tool
  entry          INTEGER REFERENCES entries(seq) -- where it entered
) STRICT;
CREATE INDEX messages_pending ON messages(recipient, id) WHERE taken_at IS NULL;
CREATE INDEX messages_pending_from ON messages(recipient, sender_name, id) WHERE taken_at IS NULL;
CREATE INDEX messages_pending_deliver ON messages(recipient, deliver, id) WHERE taken_at IS NULL;
CREATE INDEX messages_pending_priority ON messages(recipient, priority, id) WHERE taken_at IS NULL;
-- A sender is an agent, whatever it is called, or else a name from outside.
CREATE UNIQUE INDEX messages_key ON messages(recipient, ifnull(sender, 0), iif(sender IS NULL, sender_name, ''), key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX messages_one_end_per_task ON messages(task) WHERE kind IN ('result', 'failure');

-- counts: how many messages wait for whom, kept in the transactions that change it.
CREATE TABLE counts (
  recipient INTEGER PRIMARY KEY REFERENCES agents(id),
  pending   INTEGER NOT NULL DEFAULT 0,
  urgent    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- settings: small facts of the workspace.
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
