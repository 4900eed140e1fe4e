-- A deposit writes each index that has its row: indexes that other ones can replace are gone, and two leave out the rows
-- that no query looks for with them.
DROP INDEX messages_needing;   -- messages_pending_lane has them
DROP INDEX messages_of_entry;  -- messages_taken_into has them
DROP INDEX messages_pending_deliver;
DROP INDEX messages_pending_sender;
CREATE INDEX messages_pending_deliver ON messages(recipient, deliver, id) WHERE taken_at IS NULL AND deliver <> 'hold';
CREATE INDEX messages_pending_sender ON messages(recipient, sender, id) WHERE taken_at IS NULL AND sender IS NOT NULL;
