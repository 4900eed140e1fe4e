package event

// Kind says who opened an agent. Its [Nature] follows from that.
type Kind string

const (
	Main   Kind = "main"   // always exists
	Helper Kind = "helper" // opened by the human beside main
	Sub    Kind = "sub"    // carries out a task for another agent
	Fork   Kind = "fork"   // handles one message sent to another agent

	Headless Kind = "headless" // observes for a schedule: it reads and reports, and changes nothing
)

// Life is what an agent lives for. It decides who starts its loop, its state after a turn and who is told of its end.
type Life int

const (
	Rests          Life = iota + 1 // between turns: the human talks to it in its tab
	CarriesTask                    // of its parent: the parent's window counts it, the parent waits for it
	HandlesMessage                 // one, sent to its parent, which inherits mail that arrives later
	Observes                       // the prompt of a schedule of its parent's, once; its parent gets the report
)

// Nature is what agents of a kind have and may do. Every other difference between kinds follows from it: a new kind is
// a new row in natures, and only a new Life is more than that.
type Nature struct {
	Word string // what people call it
	Turn string // what the rows of its turns call it

	Life Life

	Stays   bool // its tab can't be closed
	Opened  bool // the human opens it, and may name and close it
	Forks   bool // it may be forked to handle a message, and its conversation may be branched
	Asks    bool // it may ask the human
	Engines bool // another vendor's agent may carry out its turns
	Strict  bool // the session's mode and rules loosen nothing for it, and its commands see less of the environment

	Trail bool // its calls are also in the audit's file of lines, and none runs that can't be written there

	Tools []string // the tools its model may call; nil: all of them
}

var natures = map[Kind]Nature{
	Main:   {Word: "main", Turn: "agent", Life: Rests, Stays: true, Forks: true, Asks: true, Engines: true},
	Helper: {Word: "helper", Turn: "agent", Life: Rests, Opened: true, Forks: true, Asks: true, Engines: true},
	Sub:    {Word: "sub-agent", Turn: "async_subagent", Life: CarriesTask, Forks: true, Asks: true, Engines: true},
	Fork: {Word: "fork", Turn: "fork", Life: HandlesMessage, Strict: true, Tools: []string{
		"read_file", "list_files", "glob", "grep",
		"send", "receive", "list_messages", "read_message", "reply_to_message", "memory",
	}},
	Headless: {Word: "observer", Turn: "headless", Life: Observes, Strict: true, Trail: true, Tools: []string{
		"read_file", "grep", "schedule", "run_check",
	}},
}

// Trails returns the kinds whose calls are also written to the audit's file of lines.
func Trails() (kinds []string) {
	for k, n := range natures {
		if n.Trail {
			kinds = append(kinds, string(k))
		}
	}
	return kinds
}

// Nature returns what agents of the kind have and may do; the zero value if the kind is unknown.
func (k Kind) Nature() Nature { return natures[k] }

// HasPrompt reports whether the human talks to the agent in its tab.
func (k Kind) HasPrompt() bool { return natures[k].Life == Rests }

// Ends reports whether the agent ends with its work, and holds a slot while it works.
func (k Kind) Ends() bool { return k.Tasked() || k.Fleeting() }

// Tasked reports whether the agent's work is a task of its parent.
func (k Kind) Tasked() bool { return natures[k].Life == CarriesTask }

// Handles reports whether the agent's work is a message sent to its parent.
func (k Kind) Handles() bool { return natures[k].Life == HandlesMessage }

// Observes reports whether the agent's work is the prompt of a schedule.
func (k Kind) Observes() bool { return natures[k].Life == Observes }

// Fleeting reports whether the agent has one turn, gets no other messages, and has its tab closed automatically.
func (k Kind) Fleeting() bool { return k.Handles() || k.Observes() }
