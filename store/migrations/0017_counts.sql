-- counts hold the messages up to the number in counts_upto. Those behind it are few, and all pending: whoever is about to
-- change one, or whom it is for, has them counted first. So a deposit writes its message and no more.
CREATE TABLE counts_upto (message INTEGER NOT NULL) STRICT;
INSERT INTO counts_upto SELECT ifnull(max(id), 0) FROM messages;
-- counts_now: the numbers of all messages; the rows of one recipient add up.
CREATE VIEW counts_now AS
  SELECT recipient, pending, urgent, needs, failed, done, asks, taken, aside FROM counts
  UNION ALL
  SELECT recipient, 1, priority = 'urgent' AND muted = 0, lane = 'needs', lane = 'failed', lane = 'done',
    kind IN ('question', 'approval'), 0, 0
  FROM messages WHERE id > (SELECT message FROM counts_upto);
