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
-- an older version's
UPDATE grants SET seal = ''; UPDATE checks SET seal = ''; UPDATE settings SET seal = ''
-- another rule under the same seal
UPDATE grants SET rule = 'bash(make x)'
-- a copied rule
INSERT INTO grants SELECT 'bash(make more)', created_at, seal FROM grants
-- a rule without a seal
INSERT INTO grants (rule, created_at) VALUES ('bash(make more)', 1)
-- a rule that nobody can read
INSERT INTO grants (rule, created_at) VALUES ('bash(((', 1)
-- a rule of another time
UPDATE grants SET created_at = 1
-- another command
UPDATE checks SET argv = '["sh","evil"]'
-- a command that is none
UPDATE checks SET argv = '{'
-- with the network
UPDATE checks SET net = 'evil.example'
-- a check without a seal
DELETE FROM checks; INSERT INTO checks (name, argv, created_at) VALUES ('test', '["make"]', 1)
-- a copied check
INSERT INTO checks SELECT 'x', argv, net, created_at, seal FROM checks; DELETE FROM checks WHERE name = 'test'; UPDATE checks SET name = 'test', argv = '["x"]'
-- other answers
UPDATE settings SET value = '{"f":{"Bash(make filed)":true,"Bash(rm *)":true}}' WHERE key LIKE 'rules%'
-- answers that nobody can read
UPDATE settings SET value = '{' WHERE key LIKE 'rules%'
-- answers without a seal
UPDATE settings SET seal = '' WHERE key LIKE 'rules%'
-- a mode without a seal
UPDATE settings SET seal = '' WHERE key = 'chosen mode'
-- the answers' seal at the mode
UPDATE settings SET seal = (SELECT seal FROM settings WHERE key LIKE 'rules%') WHERE key = 'chosen mode'
-- a rule, a check and answers
INSERT INTO grants (rule, created_at) VALUES ('bash(rm *)', 1); INSERT INTO checks (name, argv, created_at) VALUES ('test', '["make"]', 1); INSERT INTO settings (key, value) VALUES ('rules of the workspace''s files', '{"f":{"Bash(rm *)":true}}')
-- nothing new
UPDATE tasks SET place = place
-- cancelled
UPDATE tasks SET state = 'removed', finished_at = 1 WHERE name = 'b'
-- deleted
DELETE FROM tasks WHERE name = 'b'
-- moved
UPDATE tasks SET place = 9 WHERE name = 'a'
-- reordered
UPDATE tasks SET place = 9 - place
-- changes that are gone
UPDATE tasks SET place = 9 - place WHERE name <> 'b'; UPDATE tasks SET state = 'removed' WHERE name = 'b'; DELETE FROM task_changes
-- a number that was there before
DELETE FROM task_changes WHERE task > 1; UPDATE tasks SET place = 9 WHERE name = 'a'
