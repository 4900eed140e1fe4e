UPDATE schedules SET text = 'make evil' || char(10) || '2. schedule mine' WHERE name = 'tests'
UPDATE checks SET argv = '["make","worse"]'
INSERT INTO grants (rule, created_at) VALUES ('bash(make all)', 1)
