-- engines: what the agents of other vendors, which carry out turns of ours, have of each agent's conversation.
CREATE TABLE engines (
  agent   INTEGER PRIMARY KEY REFERENCES agents(id),
  vendor  TEXT NOT NULL,
  session TEXT NOT NULL DEFAULT '',   -- its own name of the conversation; '': none began
  sent    INTEGER NOT NULL DEFAULT 0, -- the last entry that it has
  sending INTEGER NOT NULL DEFAULT 0, -- the last entry on its way to it, in doubt once the program ends; 0: none
  settled INTEGER NOT NULL DEFAULT 0  -- the last entry that it had as a turn of its ended: what came since may not outlive its program
) STRICT;

-- dispatchers: which agents may hand work to the agents of which vendors: the human said so once.
CREATE TABLE dispatchers (
  agent  INTEGER NOT NULL REFERENCES agents(id),
  vendor TEXT NOT NULL,
  PRIMARY KEY (agent, vendor)
) STRICT, WITHOUT ROWID;
