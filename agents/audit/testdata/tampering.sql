-- a row is deleted: row 4 is missing: row 5 follows row 3
DELETE FROM audit WHERE id = 4;
-- rows are deleted: row 3 is missing, and all others to row 5
DELETE FROM audit WHERE id IN (3, 4, 5);
-- the first row is deleted: row 1 is missing: row 2 follows row 0
DELETE FROM audit WHERE id = 1;
-- a row is deleted and the gap closed: row 4 is not what was written
DELETE FROM audit WHERE id = 4;
UPDATE audit SET id = -id WHERE id > 4;
UPDATE audit SET id = -id - 1 WHERE id < 0;
-- a row is put in: row 4 is not what was written
UPDATE audit SET id = -id WHERE id > 3;
UPDATE audit SET id = 1 - id WHERE id < 0;
INSERT INTO audit SELECT 4, at, what, agent, name, turn, call, tool, args, decision, ruled_by, outcome, bytes, began, millis, hash FROM audit WHERE id = 3;
-- a row is put in front: row -7 was put in
INSERT INTO audit SELECT -7, at, what, agent, name, turn, call, tool, args, decision, ruled_by, outcome, bytes, began, millis, hash FROM audit WHERE id = 3;
-- a row is put behind: row 8 is not what was written
INSERT INTO audit SELECT 8, at, what, agent, name, turn, call, tool, args, decision, ruled_by, outcome, bytes, began, millis, hash FROM audit WHERE id = 7;
-- rows change places: row 3 is not what was written
UPDATE audit SET id = -1 WHERE id = 3;
UPDATE audit SET id = 3 WHERE id = 5;
UPDATE audit SET id = 5 WHERE id = -1;
-- the tail is cut: row 6 is missing: the audit ends with row 5, but by the file audit.head with row 7
DELETE FROM audit WHERE id > 5;
-- the last row is cut: row 7 is missing: the audit ends with row 6
DELETE FROM audit WHERE id = 7;
-- all rows are deleted: row 1 is missing, and all others to row 7
DELETE FROM audit;
-- the first row loses its name: row 1 is not what was written
UPDATE audit SET args = 'null' WHERE id = 1;
-- an edit of at: row 4 is not what was written
UPDATE audit SET at = 1 WHERE id = 4;
-- an edit of what: row 4 is not what was written
UPDATE audit SET what = 'runs' WHERE id = 4;
-- an edit of agent: row 4 is not what was written
UPDATE audit SET agent = 2 WHERE id = 4;
-- an edit of name: row 4 is not what was written
UPDATE audit SET name = 'other' WHERE id = 4;
-- an edit of turn: row 4 is not what was written
UPDATE audit SET turn = 9 WHERE id = 4;
-- an edit of call: row 4 is not what was written
UPDATE audit SET call = 'x' WHERE id = 4;
-- an edit of tool: row 4 is not what was written
UPDATE audit SET tool = 'grep' WHERE id = 4;
-- an edit of args: row 4 is not what was written
UPDATE audit SET args = '{}' WHERE id = 4;
-- an edit of decision: row 4 is not what was written
UPDATE audit SET decision = 'refused' WHERE id = 4;
-- an edit of ruled_by: row 4 is not what was written
UPDATE audit SET ruled_by = 'me' WHERE id = 4;
-- an edit of outcome: row 4 is not what was written
UPDATE audit SET outcome = 'x' WHERE id = 4;
-- an edit of bytes: row 4 is not what was written
UPDATE audit SET bytes = 1 WHERE id = 4;
-- an edit of began: row 4 is not what was written
UPDATE audit SET began = 1 WHERE id = 4;
-- an edit of millis: row 4 is not what was written
UPDATE audit SET millis = 1 WHERE id = 4;
-- an edit of hash: row 4 is not what was written
UPDATE audit SET hash = '00' WHERE id = 4;
