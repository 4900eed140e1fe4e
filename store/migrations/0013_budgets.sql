-- budgets: how much an agent and all it dispatches may use, and how much of that they have used since it was set.
CREATE TABLE budgets (
  agent  INTEGER PRIMARY KEY REFERENCES agents(id),
  money  INTEGER NOT NULL,                     -- 1: millionths of a dollar; 0: tokens
  amount INTEGER NOT NULL,
  used   INTEGER NOT NULL DEFAULT 0,
  warned INTEGER NOT NULL DEFAULT 0            -- 1: who dispatched it was told that most of it is used
) STRICT;

-- budget_users: the agents whose use counts to a budget; its owner is one of them. Who dispatched an agent decides, and
-- not whom it passes to when that one ends.
CREATE TABLE budget_users (
  agent   INTEGER NOT NULL REFERENCES agents(id),
  owner   INTEGER NOT NULL REFERENCES budgets(agent),
  wrapped INTEGER NOT NULL DEFAULT 0,          -- 1: it was told to finish with what it has
  PRIMARY KEY (agent, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX budget_users_of ON budget_users(owner);

ALTER TABLE tasks ADD COLUMN budget TEXT NOT NULL DEFAULT '';  -- of its agent: 50k, $2; '': none
