-- Which commands run as the user: a schedule's where the human said so ('off'; '': in the sandbox), and a task's unless it
-- is held to the sandbox ('on').
ALTER TABLE schedules ADD COLUMN sandbox TEXT NOT NULL DEFAULT '' CHECK (sandbox IN ('', 'off'));
ALTER TABLE tasks ADD COLUMN sandbox TEXT NOT NULL DEFAULT '' CHECK (sandbox IN ('', 'on'));
