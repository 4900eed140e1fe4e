-- roles: what agents are that files describe, as those files said when work was given to one. A row is named by what it
-- holds and never changes: an agent stays what it was made as, whatever becomes of the file.
CREATE TABLE roles (
  digest TEXT PRIMARY KEY,
  data   TEXT NOT NULL CHECK (json_valid(data))
) STRICT, WITHOUT ROWID;
ALTER TABLE tasks ADD COLUMN role TEXT NOT NULL DEFAULT '';   -- of its agent; '': none
ALTER TABLE agents ADD COLUMN role TEXT NOT NULL DEFAULT '';
