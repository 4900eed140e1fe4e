-- turns
CREATE TRIGGER fault BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'fault in turns'); END
-- results
CREATE TRIGGER fault BEFORE INSERT ON entries WHEN NEW.kind = 'result' BEGIN SELECT RAISE(ABORT, 'fault in results'); END
-- reports
CREATE TRIGGER fault BEFORE INSERT ON messages WHEN NEW.kind = 'result' BEGIN SELECT RAISE(ABORT, 'fault in reports'); END
-- ends
CREATE TRIGGER fault BEFORE INSERT ON entries WHEN NEW.kind = 'ended' BEGIN SELECT RAISE(ABORT, 'fault in ends'); END
-- agents
CREATE TRIGGER fault BEFORE INSERT ON agents BEGIN SELECT RAISE(ABORT, 'fault in agents'); END
-- states
CREATE TRIGGER fault BEFORE UPDATE OF state ON agents BEGIN SELECT RAISE(ABORT, 'fault in states'); END
-- takes
CREATE TRIGGER fault BEFORE UPDATE ON messages WHEN NEW.taken_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'fault in takes'); END
-- pieces
CREATE TRIGGER fault BEFORE INSERT ON pieces BEGIN SELECT RAISE(ABORT, 'fault in pieces'); END
-- texts
CREATE TRIGGER fault BEFORE INSERT ON entries WHEN NEW.kind = 'text' BEGIN SELECT RAISE(ABORT, 'fault in texts'); END
-- audit
CREATE TRIGGER fault BEFORE INSERT ON audit WHEN NEW.what = 'call' BEGIN SELECT RAISE(ABORT, 'fault in the audit'); END
-- none
DROP TRIGGER IF EXISTS fault
-- full
PRAGMA max_page_count = 1
-- space
PRAGMA max_page_count = 1000000
