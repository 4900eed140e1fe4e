-- words: as before, and where each message stands: whose it is (r12) and in which lane of theirs (r12needs), so that a
-- search reads nothing of other inboxes and lanes. They are indexed anew, in slices while the host runs; words_upto is
-- the last message in it. words_terms are the words themselves: a beginning of one is searched as the words it begins.
DROP TABLE words;
CREATE VIRTUAL TABLE words USING fts5(place, sender, subject, tags, body, error, content = '', columnsize = 0);
CREATE VIRTUAL TABLE words_terms USING fts5vocab(words, instance);
UPDATE words_upto SET message = 0;
CREATE VIEW message_words AS SELECT id, 'r' || recipient || ' r' || recipient || lane AS place, sender_name AS sender, subject,
  (SELECT group_concat(value, ' ') FROM json_each(iif(json_valid(tags), tags, '[]'))) AS tags,
  CAST(substr(body, 1, 65536) AS TEXT) AS body, error FROM messages;

-- An index that keeps no text forgets a message by being told what it held of it.
CREATE TRIGGER messages_move AFTER UPDATE OF recipient, muted ON messages
WHEN (OLD.recipient <> NEW.recipient OR OLD.lane <> NEW.lane) AND NEW.id <= (SELECT message FROM words_upto)
BEGIN
  INSERT INTO words (words, rowid, place, sender, subject, tags, body, error)
    SELECT 'delete', id, 'r' || OLD.recipient || ' r' || OLD.recipient || OLD.lane, sender, subject, tags, body, error
    FROM message_words WHERE id = OLD.id;
  INSERT INTO words (rowid, place, sender, subject, tags, body, error)
    SELECT id, place, sender, subject, tags, body, error FROM message_words WHERE id = NEW.id;
END;

-- What must not be is kept as an index of the rows that break the rule: it is empty, and looking costs nothing.
CREATE INDEX messages_broken ON messages(id, recipient) WHERE
  (taken_at IS NOT NULL AND entry IS NULL AND taken_by NOT IN ('archive', 'snooze')
    AND NOT (kind IN ('question', 'approval') AND taken_by IN ('answer', 'settled')))
  OR (kind IN ('question', 'approval') AND entry IS NOT NULL)
  OR (taken_by IN ('archive', 'snooze') AND (entry IS NOT NULL OR taken_at IS NULL))
  OR (taken_by = 'snooze') <> (snoozed_until IS NOT NULL)
  OR (taken_at IS NULL AND entry IS NOT NULL);
CREATE INDEX messages_asking ON messages(id, recipient)
  WHERE kind IN ('question', 'approval') AND taken_by NOT IN ('answer', 'settled');
CREATE TRIGGER messages_stay BEFORE DELETE ON messages
BEGIN SELECT RAISE(ABORT, 'messages are kept'); END;

-- What became of all messages of each, beside those that wait. Numbers without a message are few or none: they are
-- counted once, and later the books add up to the newest number without them.
ALTER TABLE counts ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counts ADD COLUMN aside INTEGER NOT NULL DEFAULT 0;  -- archived or snoozed
INSERT INTO counts (recipient, taken, aside)
  SELECT recipient, sum(taken_by NOT IN ('archive', 'snooze')), sum(taken_by IN ('archive', 'snooze'))
  FROM messages WHERE taken_at IS NOT NULL GROUP BY recipient
ON CONFLICT (recipient) DO UPDATE SET taken = excluded.taken, aside = excluded.aside;
CREATE TABLE unused_numbers (messages INTEGER NOT NULL) STRICT;
INSERT INTO unused_numbers SELECT ifnull(max(id), 0) - count(*) FROM messages;
