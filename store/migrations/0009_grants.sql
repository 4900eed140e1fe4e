-- What a human added for good to the sandboxes of the workspace's commands: rules such as sandbox(network).
CREATE TABLE grants (
  rule       TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
