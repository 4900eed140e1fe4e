-- typing: what stood a moment ago in the boxes of a screen that is there. The screen removes it when
-- it goes; what a host that was killed left here is offered to the next screen as a draft.
CREATE TABLE typing (
  screen  INTEGER NOT NULL,
  agent   INTEGER NOT NULL REFERENCES agents(id),
  text    TEXT NOT NULL,
  pastes  TEXT NOT NULL DEFAULT '',            -- as in drafts
  left_at INTEGER NOT NULL,
  PRIMARY KEY (screen, agent)
) STRICT, WITHOUT ROWID;
