// Package proc runs child processes that always end.
//
// Does: start a command in a process group and session of its own without a
// controlling terminal, bound its time and its output, keep the whole output in
// a file, end the group (TERM, after two seconds KILL), tell whether a recorded
// group still lives.
//
// Does not: judge a command, know a workspace.
//
// Imports: nothing of ours.
package proc

import (
	"context"
	"time"
)

// Spec is one command. Shell runs `bash -c Shell` (sh where there is no bash).
type Spec struct {
	Shell   string
	Dir     string
	Env     []string          // the whole environment
	Timeout time.Duration     // 0: none
	Output  string            // the file that gets the whole output (created 0600); "" keeps only head and tail
	Head    int               // bytes of the output kept from its start in Result.Text
	Tail    int               // bytes kept from its end
	FileCap int64             // bytes the file may grow to; 0: 1 GiB
	Started func(Group)       // called once the process runs
	Tick    func(tail string) // called with the last bytes of the output as it grows, at most ten times a second
}

// Group identifies a process group across restarts of this program.
type Group struct {
	PGID  int   `json:"pgid"`
	Start int64 `json:"start"` // the leader's start time in clock ticks since boot
}

// Result is what became of it.
type Result struct {
	Text     string // the output, or head, a line saying how many bytes are left out and where they are, and tail
	Size     int64  // bytes of the whole output
	Exit     int    // exit code; -1 if ended by a signal
	Signal   string // the signal's name, if one ended it
	TimedOut bool
	Duration time.Duration
	Cut      bool // Text is not the whole output
	Left     bool // a background process still held the output when the command ended; it was ended too
}

// Run runs the command to its end. Cancelling ctx ends the group at once and
// returns the partial result with ctx's error. The other errors mean that it
// could not start.
func Run(ctx context.Context, s Spec) (Result, error) { panic("contract") }

// End ends the group if its leader is still the process it was: TERM, then KILL
// after grace. It reports whether there was anything to end.
func End(g Group, grace time.Duration) bool { panic("contract") }

// Clean returns env without provider variables and *_KEY, *_TOKEN, *_SECRET
// (and the like: *_PASSWORD, *_CREDENTIALS), for attended agents' tools.
func Clean(env []string) []string { panic("contract") }
