INSERT INTO dispatchers (agent, vendor) VALUES (?, 'claude')
INSERT INTO dispatchers (agent, vendor, seal) SELECT agent, 'codex', seal FROM dispatchers WHERE agent = ?
INSERT INTO dispatchers (agent, vendor, seal) SELECT agent + 1, vendor, seal FROM dispatchers WHERE agent = ? AND vendor = 'claude'
UPDATE dispatchers SET seal = '' WHERE agent = ?
