-- turns
CREATE TRIGGER fault BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'fault in turns'); END
-- results
CREATE TRIGGER fault BEFORE INSERT ON entries WHEN NEW.kind = 'result' BEGIN SELECT RAISE(ABORT, 'fault in results'); END
-- ends
CREATE TRIGGER fault BEFORE INSERT ON entries WHEN NEW.kind = 'ended' BEGIN SELECT RAISE(ABORT, 'fault in ends'); END
-- agents
CREATE TRIGGER fault BEFORE INSERT ON agents BEGIN SELECT RAISE(ABORT, 'fault in agents'); END
-- takes
CREATE TRIGGER fault BEFORE UPDATE ON messages WHEN NEW.taken_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'fault in takes'); END
-- pieces
CREATE TRIGGER fault BEFORE INSERT ON pieces BEGIN SELECT RAISE(ABORT, 'fault in pieces'); END
-- texts
CREATE TRIGGER fault BEFORE INSERT ON entries WHEN NEW.kind = 'text' BEGIN SELECT RAISE(ABORT, 'fault in texts'); END
-- none
DROP TRIGGER IF EXISTS fault
-- full
PRAGMA max_page_count = 1
-- space
PRAGMA max_page_count = 1000000
