-- Which host wrote a row as it is: a code made with a key in that host's memory. '': none did.
ALTER TABLE tasks ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN seal TEXT NOT NULL DEFAULT '';
