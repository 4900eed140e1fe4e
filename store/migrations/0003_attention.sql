-- What the human did with a message, and where it belongs. A message that was
-- archived or snoozed is taken: by archive, or by snooze until its time comes.
ALTER TABLE messages ADD COLUMN thread INTEGER REFERENCES messages(id);  -- the first message of its thread; NULL: it is one itself
ALTER TABLE messages ADD COLUMN muted INTEGER NOT NULL DEFAULT 0;        -- its thread is held silently
ALTER TABLE messages ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;       -- stays prominent
ALTER TABLE messages ADD COLUMN dismissed_at INTEGER;                    -- the human was told and put it off
ALTER TABLE messages ADD COLUMN snoozed_until INTEGER;                   -- when it is pending again
CREATE INDEX replies ON messages(in_reply_to) WHERE in_reply_to IS NOT NULL;  -- so that each is found once
WITH RECURSIVE roots(id, root) AS (
  SELECT DISTINCT r.in_reply_to, r.in_reply_to FROM messages r JOIN messages m ON m.id = r.in_reply_to
  WHERE r.in_reply_to IS NOT NULL AND m.in_reply_to IS NULL
  UNION ALL
  SELECT m.id, r.root FROM roots r CROSS JOIN messages m ON m.in_reply_to = r.id
)
UPDATE messages SET thread = roots.root FROM roots WHERE messages.id = roots.id AND messages.in_reply_to IS NOT NULL;
DROP INDEX replies;
ALTER TABLE messages ADD COLUMN by_fork INTEGER NOT NULL DEFAULT 0;      -- a fork wrote it: no fork is made for it
ALTER TABLE messages ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;         -- the messages between agents that led to it without the human, itself too
CREATE INDEX messages_of_thread ON messages(thread, id) WHERE thread IS NOT NULL;
CREATE INDEX messages_pressing ON messages(recipient, id)
  WHERE taken_at IS NULL AND priority = 'urgent' AND muted = 0 AND dismissed_at IS NULL;
CREATE INDEX messages_needing ON messages(recipient, id)
  WHERE taken_at IS NULL AND muted = 0 AND (priority = 'urgent' OR kind IN ('question', 'approval'));
CREATE INDEX messages_snoozed ON messages(snoozed_until) WHERE snoozed_until IS NOT NULL;

-- A fork is made for one message, which stays its parent's and stands in the fork's transcript.
ALTER TABLE agents ADD COLUMN handles INTEGER REFERENCES messages(id);

-- What a message wants of the human, as inbox.Message.Lane says it.
ALTER TABLE messages ADD COLUMN lane TEXT NOT NULL AS (CASE
  WHEN kind IN ('question', 'approval') OR (priority = 'urgent' AND muted = 0) THEN 'needs'
  WHEN kind = 'failure' OR (kind = 'scheduled' AND error <> '') THEN 'failed'
  WHEN kind IN ('result', 'scheduled') THEN 'done'
  ELSE 'fyi' END) VIRTUAL;
CREATE INDEX messages_pending_lane ON messages(recipient, lane, id) WHERE taken_at IS NULL;
CREATE INDEX messages_pinned ON messages(recipient, id) WHERE pinned = 1;
CREATE INDEX messages_aside ON messages(recipient, taken_by, id) WHERE taken_by IN ('archive', 'snooze');
CREATE INDEX messages_aside_lane ON messages(recipient, taken_by, lane, id) WHERE taken_by IN ('archive', 'snooze');
ALTER TABLE counts ADD COLUMN needs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counts ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counts ADD COLUMN done INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counts ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;  -- questions and approvals, which only an answer takes
UPDATE counts SET (needs, failed, done, asks) = (
  SELECT ifnull(sum(lane = 'needs'), 0), ifnull(sum(lane = 'failed'), 0), ifnull(sum(lane = 'done'), 0),
    ifnull(sum(kind IN ('question', 'approval')), 0)
  FROM messages WHERE recipient = counts.recipient AND taken_at IS NULL);

-- words: what messages say, to be searched; rowid is the message's id. It has the
-- first 64 KiB of a body. What messages say never changes, and they are never
-- deleted, so that it keeps no text of its own. words_upto is the last message in it:
-- many at once cost much less than one by one.
CREATE VIRTUAL TABLE words USING fts5(sender, subject, tags, body, error, content = '', columnsize = 0);
CREATE TABLE words_upto (message INTEGER NOT NULL) STRICT;
INSERT INTO words_upto SELECT ifnull(max(id), 0) FROM messages;
INSERT INTO words (rowid, sender, subject, tags, body, error)
SELECT id, sender_name, subject, (SELECT group_concat(value, ' ') FROM json_each(iif(json_valid(tags), tags, '[]'))),
  CAST(substr(body, 1, 65536) AS TEXT), error FROM messages;

-- mutes: the threads that a recipient wants held silently.
CREATE TABLE mutes (
  recipient INTEGER NOT NULL REFERENCES agents(id),
  thread    INTEGER NOT NULL REFERENCES messages(id),
  PRIMARY KEY (recipient, thread)
) STRICT, WITHOUT ROWID;

-- policies: what the human said about an agent's mail, as JSON that package inbox reads.
CREATE TABLE policies (
  agent INTEGER PRIMARY KEY REFERENCES agents(id),
  data  TEXT NOT NULL
) STRICT;

-- approvals: questions to the human, whether a call may run or what an agent
-- asks. The first answer wins; the turn finds the answer of its call by the id of
-- the call. One that lets a call run is acted upon before that begins, at most once.
CREATE TABLE approvals (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  agent       INTEGER NOT NULL REFERENCES agents(id),
  turn        INTEGER NOT NULL REFERENCES turns(id),
  call        TEXT NOT NULL,                   -- the call that waits
  kind        TEXT NOT NULL,                   -- approval question
  data        TEXT NOT NULL,                   -- what is asked, as JSON that package agents reads
  message     INTEGER REFERENCES messages(id), -- its row in an inbox
  answer      TEXT NOT NULL DEFAULT '',        -- as JSON that package agents reads
  created_at  INTEGER NOT NULL,
  answered_at INTEGER,
  acted_at    INTEGER
) STRICT;
CREATE INDEX approvals_of_turn ON approvals(turn, id);
CREATE INDEX approvals_of_message ON approvals(message) WHERE message IS NOT NULL;
CREATE INDEX approvals_open ON approvals(agent, id) WHERE answered_at IS NULL;

-- memories: the workspace's documents; the newest version of a name and part
-- counts, and the older ones are their history.
CREATE TABLE memories (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  part       TEXT NOT NULL DEFAULT '',
  version    INTEGER NOT NULL,                 -- from 1 on, of each name and part
  text       TEXT NOT NULL,                    -- '': it was removed
  size       INTEGER NOT NULL,                 -- bytes of the text
  agent      INTEGER REFERENCES agents(id),    -- who wrote it; NULL: the human
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX memories_named ON memories(name, part, version);

-- What ended since the human looked last is found by its time.
CREATE INDEX tasks_finished ON tasks(finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX turns_ended ON turns(ended_at) WHERE ended_at IS NOT NULL;
