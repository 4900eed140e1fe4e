-- task_changes: the last 1,000 changes of the queue, whoever made them. The host reads only the tasks of the changes that
-- it has not read, and reads the whole queue if some of those are gone.
CREATE TABLE task_changes (
  number INTEGER PRIMARY KEY,
  task   INTEGER NOT NULL  -- its row may be gone
) STRICT;
CREATE TRIGGER tasks_added AFTER INSERT ON tasks
BEGIN
  INSERT INTO task_changes (task) VALUES (NEW.id);
  DELETE FROM task_changes WHERE number <= (SELECT max(number) FROM task_changes) - 1000;
END;
CREATE TRIGGER tasks_changed AFTER UPDATE OF queue, place, state ON tasks
BEGIN
  INSERT INTO task_changes (task) VALUES (NEW.id);
  DELETE FROM task_changes WHERE number <= (SELECT max(number) FROM task_changes) - 1000;
END;
CREATE TRIGGER tasks_deleted AFTER DELETE ON tasks
BEGIN
  INSERT INTO task_changes (task) VALUES (OLD.id);
  DELETE FROM task_changes WHERE number <= (SELECT max(number) FROM task_changes) - 1000;
END;
