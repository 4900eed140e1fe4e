UPDATE schedules SET text = 'touch evil', kind = 'command', sandbox = 'off', due_at = 1
INSERT INTO grants (rule, created_at) VALUES ('bash(touch evil)', 1)
