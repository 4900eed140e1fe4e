-- What starts or allows something says which program wrote it as it is: a code made with a key that lies beside the
-- database and that no sandbox shows. '': none did.
ALTER TABLE schedules ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE grants ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE checks ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE settings ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE dispatchers ADD COLUMN seal TEXT NOT NULL DEFAULT '';

-- What is there waits for the human's yes. It is due again then, reckoned from when it was made or from that yes.
UPDATE schedules SET state = 'held', due_at = NULL WHERE state = 'active';
