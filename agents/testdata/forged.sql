-- task
INSERT INTO tasks (queue, name, prompt, kind, origin, model, deliver, created_at) VALUES (1, 'forged', 'forged', 'prompt', 'human', 'test/one', 'hold', 0)
-- command
INSERT INTO tasks (queue, name, prompt, kind, origin, model, deliver, created_at) VALUES (1, 'forged', 'echo forged', 'command', 'human', '', 'hold', 0)
-- lent
INSERT INTO tasks (queue, name, prompt, kind, origin, model, deliver, created_at, seal) SELECT 1, 'forged', 'forged', 'prompt', 'human', 'test/one', 'hold', 0, seal FROM tasks WHERE name = 'old'
-- prompt
UPDATE tasks SET prompt = 'forged' WHERE name = 'b'
-- kind
UPDATE tasks SET kind = 'command' WHERE name = 'b'
-- origin
UPDATE tasks SET origin = 'agent' WHERE name = 'b'
-- deliver
UPDATE tasks SET deliver = 'wake' WHERE name = 'b'
-- needs
DELETE FROM task_needs
-- once more
UPDATE tasks SET state = 'queued', outcome = '', finished_at = NULL WHERE name = 'old'
-- retried
UPDATE tasks SET prompt = 'forged' WHERE name = 'old'
-- yes
UPDATE approvals SET answer = '{"choice":"once"}', answered_at = 1 WHERE id = (SELECT max(id) FROM approvals)
-- less
UPDATE approvals SET data = json_set(data, '$.action.command', 'ls', '$.action.title', 'ls', '$.rule', 'bash(touch *)') WHERE id = (SELECT max(id) FROM approvals)
-- role
UPDATE roles SET data = replace(data, 'grep', 'bash')
