INSERT INTO schedules (name, owner, origin, kind, text, deliver, priority, said, at, due_at, created_at, seal) SELECT 's2', owner, origin, kind, text, deliver, priority, said, at, due_at, created_at, seal FROM schedules
INSERT INTO grants SELECT 'bash(*)', created_at, seal FROM grants
INSERT INTO checks SELECT 'c2', argv, net, created_at, seal FROM checks
INSERT INTO settings SELECT 'k2', value, seal FROM settings
INSERT INTO settings SELECT 'c', argv, seal FROM checks WHERE name = 'c'
INSERT INTO dispatchers SELECT 2, vendor, seal FROM dispatchers
