package store

import "time"

// The rows of the transcripts. Zero times mean NULL. Strings such as kinds and
// states are the caller's words; store keeps them.

type Agent struct {
	ID      int64
	Name    string
	Kind    string
	Trust   string
	Parent  int64 // 0: none
	Task    int64 // 0: none
	Model   string
	State   string
	Created time.Time
	Ended   time.Time
	Closed  time.Time
}

type Turn struct {
	ID                                   int64
	Agent                                int64
	Parent                               int64 // the turn before, or the one it was forked from; 0: none
	Conversation                         int64 // 0 on Begin: the turn's own id
	SpawnedBy                            int64
	Kind                                 string
	Outcome                              string // "" while it runs
	Error                                string
	SentUpTo                             int64
	Steps                                int
	Input, Output, CacheRead, CacheWrite int
	Cost                                 int64 // millionths of a dollar
	Context                              int   // tokens
	Started                              time.Time
	Ended                                time.Time
}

type Entry struct {
	Seq     int64
	Agent   int64
	Turn    int64 // 0: at rest
	Kind    string
	Data    string // JSON
	Created time.Time
}

type Prompt struct {
	ID      int64
	Agent   int64
	Text    string
	Held    bool
	Created time.Time
}

type Task struct {
	ID        int64
	Queue     int64 // the agent whose queue it stands in
	Name      string
	Prompt    string
	Model     string
	Timeout   time.Duration
	Deliver   string
	SpawnedBy int64
	State     string // queued running finished removed
	Outcome   string
	Error     string
	Agent     int64 // 0 until it started
	Created   time.Time
	Started   time.Time
	Finished  time.Time
}

// Step is what one model request adds to a turn; the sums are made in SQL.
type Step struct {
	Input, Output, CacheRead, CacheWrite int
	Cost                                 int64
	Context                              int
}

// Writes.
func (tx *Tx) AddAgent(a Agent) (int64, error)                            { panic("contract") } // sets Created = Now if zero
func (tx *Tx) SetAgentState(id int64, state string, ended bool) error     { panic("contract") } // ended sets ended_at once; ended=false clears it
func (tx *Tx) SetAgentModel(id int64, model string) error                 { panic("contract") }
func (tx *Tx) RenameAgent(id int64, name string) error                    { panic("contract") }
func (tx *Tx) CloseAgent(id int64) error                                  { panic("contract") }
func (tx *Tx) BeginTurn(t Turn) (int64, error)                            { panic("contract") }
func (tx *Tx) AddStep(turn int64, s Step) error                           { panic("contract") }
func (tx *Tx) SetSentUpTo(turn, seq int64) error                          { panic("contract") }
func (tx *Tx) EndTurn(turn int64, outcome, cause string) error            { panic("contract") } // only if it runs; else no change
func (tx *Tx) Append(agent, turn int64, kind, data string) (int64, error) { panic("contract") } // returns seq
// LastSeq is the agent's newest entry, 0 if it has none.
func (tx *Tx) LastSeq(agent int64) (int64, error)                       { panic("contract") }
func (tx *Tx) AddPrompt(agent int64, text string) (int64, error)        { panic("contract") }
func (tx *Tx) WaitingPrompts(agent int64) ([]Prompt, error)             { panic("contract") } // oldest first, held ones too
func (tx *Tx) EnterPrompt(id, entry int64) error                        { panic("contract") }
func (tx *Tx) RemovePrompt(id int64) (bool, error)                      { panic("contract") } // false: it had entered already
func (tx *Tx) HoldPrompts() error                                       { panic("contract") } // all that wait, after a crash
func (tx *Tx) AddTask(t Task) (int64, error)                            { panic("contract") }
func (tx *Tx) StartTask(id, agent int64) (bool, error)                  { panic("contract") } // false: it was no longer queued
func (tx *Tx) FinishTask(id int64, outcome, cause string) (bool, error) { panic("contract") } // false: it had finished already
func (tx *Tx) RemoveTask(id int64) (bool, error)                        { panic("contract") } // false: it was no longer queued
func (tx *Tx) NextTask(queue int64) (Task, bool, error)                 { panic("contract") } // oldest queued
func (tx *Tx) RunningTasks() ([]Task, error)                            { panic("contract") }
func (tx *Tx) OpenTurns() ([]Turn, error)                               { panic("contract") }
func (tx *Tx) SetSetting(key, value string) error                       { panic("contract") }

// Reads; each is one short read transaction.
func (rx *Rx) Agents() ([]Agent, error)                     { panic("contract") } // not closed, by id
func (rx *Rx) AgentByName(name string) (Agent, bool, error) { panic("contract") }
func (rx *Rx) LastTurn(agent int64) (Turn, bool, error)     { panic("contract") }
func (rx *Rx) SumTurns(agent int64) (Turn, error)           { panic("contract") } // token sums, cost, steps; Context of the last
func (rx *Rx) Turns(agent int64) ([]Turn, error)            { panic("contract") }

// EntriesAfter: oldest first, those with seq > after; limit <= 0 means all.
func (rx *Rx) EntriesAfter(agent, after int64, limit int) ([]Entry, error) { panic("contract") }

// EntriesBefore: the limit newest with seq < before (0: no bound), returned oldest first.
func (rx *Rx) EntriesBefore(agent, before int64, limit int) ([]Entry, error) { panic("contract") }

// LastEntry of a kind of an agent.
func (rx *Rx) LastEntry(agent int64, kind string) (Entry, bool, error) { panic("contract") }
func (rx *Rx) Prompts(agent int64) ([]Prompt, error)                   { panic("contract") } // waiting, oldest first
func (rx *Rx) Tasks(queue int64) ([]Task, error)                       { panic("contract") } // by id, removed ones left out
func (rx *Rx) Task(id int64) (Task, bool, error)                       { panic("contract") }
func (rx *Rx) Setting(key string) (string, bool, error)                { panic("contract") }
