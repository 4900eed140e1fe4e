-- pieces: long texts, and what is being said, in rows of bounded size. The first piece
-- of a text names no head; the others name it, in the order of their ids. A text that an
-- entry names as its head is that entry's, for good. One that none names belongs to a
-- reply that still comes: the turn's next entries take its place, or, after a
-- crash, the next start makes an entry of it.
CREATE TABLE pieces (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  turn  INTEGER REFERENCES turns(id),        -- NULL: a text that is whole, appended at rest
  head  INTEGER REFERENCES pieces(id),
  kind  TEXT NOT NULL,                       -- of the entry it is to be
  model TEXT NOT NULL,                       -- that says it
  text  TEXT NOT NULL
) STRICT;
CREATE INDEX pieces_of_text ON pieces(head, id) WHERE head IS NOT NULL;
CREATE INDEX pieces_of_turn ON pieces(turn, id) WHERE turn IS NOT NULL;
CREATE TRIGGER pieces_never_change BEFORE UPDATE ON pieces
BEGIN SELECT RAISE(ABORT, 'pieces never change'); END;
CREATE TRIGGER pieces_of_entries_stay BEFORE DELETE ON pieces
WHEN EXISTS (SELECT 1 FROM entries WHERE head = ifnull(OLD.head, OLD.id))
BEGIN SELECT RAISE(ABORT, 'the text of an entry stays'); END;

ALTER TABLE entries ADD COLUMN head INTEGER REFERENCES pieces(id);  -- NULL: data holds the whole entry; else its text stands in pieces
ALTER TABLE entries ADD COLUMN size INTEGER NOT NULL DEFAULT 0;     -- bytes of the text in pieces
CREATE UNIQUE INDEX entries_of_pieces ON entries(head) WHERE head IS NOT NULL;
