-- Who asked for a task, what it is, what it waits for, and whom it continues.
ALTER TABLE tasks ADD COLUMN kind TEXT NOT NULL DEFAULT 'prompt';   -- prompt command
ALTER TABLE tasks ADD COLUMN origin TEXT NOT NULL DEFAULT 'human';  -- human agent cli mcp
ALTER TABLE tasks ADD COLUMN place INTEGER NOT NULL DEFAULT 0;      -- its order in the queue
ALTER TABLE tasks ADD COLUMN hint TEXT NOT NULL DEFAULT '';         -- the human's, for another attempt
ALTER TABLE tasks ADD COLUMN resumes INTEGER REFERENCES agents(id); -- the ended agent whose transcript it continues
UPDATE tasks SET place = id, origin = iif(spawned_by IS NULL, 'human', 'agent');
DROP INDEX tasks_of_queue;
DROP INDEX tasks_queued;
CREATE INDEX tasks_of_queue ON tasks(queue, place, id);
CREATE INDEX tasks_queued ON tasks(queue, place, id) WHERE state = 'queued';
CREATE INDEX tasks_made ON tasks(origin, created_at);
CREATE INDEX tasks_named ON tasks(name, id);
CREATE INDEX tasks_of_agent ON tasks(agent) WHERE agent IS NOT NULL;

-- task_needs: a task starts only after those it needs have finished.
CREATE TABLE task_needs (
  task  INTEGER NOT NULL REFERENCES tasks(id),
  needs INTEGER NOT NULL REFERENCES tasks(id),
  PRIMARY KEY (task, needs)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_needs_of ON task_needs(needs);

-- A branched conversation begins behind a turn of another agent.
ALTER TABLE agents ADD COLUMN branch INTEGER REFERENCES turns(id);

-- What one take brought, and what an inbox held before.
CREATE INDEX messages_of_entry ON messages(entry) WHERE entry IS NOT NULL;
CREATE INDEX messages_taken ON messages(recipient, id) WHERE taken_at IS NOT NULL;
CREATE INDEX messages_pending_sender ON messages(recipient, sender, id) WHERE taken_at IS NULL;
CREATE INDEX messages_taken_into ON messages(recipient, entry) WHERE taken_at IS NOT NULL;
