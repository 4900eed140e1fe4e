-- Agents that await input: where a turn of such a one ends it goes idle for idle_ms (0: for ever), and the turn's
-- result is deposited; the task ends with its agent.
ALTER TABLE tasks ADD COLUMN idle_ms INTEGER;                        -- NULL: its agent ends with its turn
ALTER TABLE agents ADD COLUMN deadline INTEGER;                      -- when an idle agent ends; NULL: nothing counts down
ALTER TABLE messages ADD COLUMN turn INTEGER REFERENCES turns(id);   -- whose end it is; NULL: no turn's, or it is older
DROP INDEX messages_one_end_per_task;
CREATE UNIQUE INDEX messages_one_end_per_turn ON messages(turn) WHERE turn IS NOT NULL AND kind IN ('result', 'failure');
CREATE UNIQUE INDEX messages_one_end_at_rest ON messages(task) WHERE turn IS NULL AND kind IN ('result', 'failure');
CREATE INDEX messages_of_task ON messages(task, id) WHERE kind IN ('result', 'failure');
