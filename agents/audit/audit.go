// Package audit records what agents called, what decided about it, and the result, so that later changes of the record
// are detected.
//
// Does: append a row for each call, its beginning and its end, for answers, modes, grants and stops, in the
// transaction that records the thing itself; chain the rows by hashes, and store the end of the chain in a file of its
// own; verify them; list them; also write those of some kinds of agents to a file of lines.
//
// Does not: store texts of files, messages or results, or keys; decide whether a call may run, except if its row can't
// be written; protect from a process that can write both the database and the files beside it.
package audit

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"fantail/agents/history"
	"fantail/store"
	"fantail/tools/secret"
)

// What a row is about.
const (
	Begun  = "begun"  // the first one; Args: the identity of this audit
	Call   = "call"   // a model asked for a call: Tool, Args
	Runs   = "runs"   // its command is about to run: Decision, By
	Ended  = "ended"  // it has its result: Decision, By, Outcome, Bytes, Began, Millis
	Answer = "answer" // a question about a call was answered: Decision, By
	Mode   = "mode"   // the permission mode changed, or the one the agents began with: Args, By
	Grant  = "grant"  // a rule was revoked: Args, Decision, By
	Stop   = "stop"   // a turn ended other than by itself: Outcome, By
	Shell  = "shell"  // the human's own command: Args, Outcome, Bytes
	Found  = "found"  // a fault of the audit that the program found at a start: By
)

// Outcomes of a Found.
const (
	damage = "damage"
	behind = "behind" // rows follow the end that the file named: a power cut does that too
)

// Decisions.
const (
	Allowed = "allowed"
	Refused = "refused"
)

// Options are what Open needs.
type Options struct {
	DB    *store.DB
	Dir   string // the workspace's data directory
	Keys  *secret.Keys
	Kinds []string    // kinds of agents whose rows are also written to the file of lines
	Warn  func(error) // tells the human that a file beside the database can't be written; nil: it can again

	Mode string // that the agents begin with; "": it is not recorded
	Why  string // it is that
}

// Log is the audit of a workspace while its agents are at work. It is safe for concurrent use. The nil Log records
// nothing.
type Log struct {
	o     Options
	head  *head
	lines *lines
	chain string // of the first row, where it is to be written
	since int64  // the last row of the start before this one

	mu     sync.Mutex // a leaf: transactions take it
	judged map[key]Judgement
	// The last errors reported to the human of writing the file of the end, and that of lines; nil: they can be
	// written.
	ends, copies error
}

// key identifies a call: its id is unique within its agent.
type key struct {
	agent int64
	call  string
}

// Judgement is what decided about an allowed call.
type Judgement struct {
	Decision string
	By       string
	Began    time.Time
}

// Open starts writing the audit. If its end does not match the file beside it, Open records that in a row. The caller
// holds the host's lock.
func Open(ctx context.Context, o Options) (*Log, error) {
	l := &Log{
		o: o, judged: map[key]Judgement{}, head: &head{path: HeadFile(o.Dir)},
		lines: &lines{path: LinesFile(o.Dir), turn: make(chan struct{}, 1)},
	}
	now, err := readHead(l.head.path)
	found := flaw{damage: true}
	if err != nil {
		found.why = err.Error()
	}
	if err := o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		last, _, err := store.LastAudit(&rx.View)
		l.since = last.ID
		if err == nil && found.why == "" {
			found, err = against(&rx.View, now)
		}
		return err
	}); err != nil {
		return nil, fmt.Errorf("compare the audit with its end: %w", err)
	}
	if l.chain = now.chain; l.chain == "" {
		l.chain = rand.Text()
		l.head.write(place{chain: l.chain, hash: origin}) // before the first row: rows without the file are damage
	}
	if found.why == "" {
		return l, nil
	}
	row := store.Audit{What: Found, By: found.why, Outcome: behind}
	if found.damage {
		row.Outcome = damage
	}
	err = o.DB.Write(ctx, "record what is wrong with the audit", func(tx *store.Tx) error { return l.append(tx, row) })
	if err != nil {
		return nil, fmt.Errorf("record what is wrong with the audit: %w", err)
	}
	return l, nil
}

// HeadFile returns the file in the data directory that records where the audit ends.
func HeadFile(dir string) string { return filepath.Join(dir, "audit.head") }

// LinesFile returns the file in the data directory with the rows of observers, a line of JSON each.
func LinesFile(dir string) string { return filepath.Join(dir, "audit.jsonl") }

// Judge notes what decided about an agent's call: other code may append its result.
func (l *Log) Judge(agent int64, call string, j Judgement) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judged[key{agent, call}] = j
}

// Forget is called when a call is over.
func (l *Log) Forget(agent int64, call string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.judged, key{agent, call})
}

// judgement returns what decided about a call.
func (l *Log) judgement(agent int64, call string) Judgement {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judged[key{agent, call}]
}

// Entry adds the row of a transcript's entry, in the transaction that appends it: for calls, their results, the
// human's own commands, and turns that did not end by themselves.
func (l *Log) Entry(tx *store.Tx, agent, turn int64, e history.Entry) error {
	row := store.Audit{Agent: agent, Turn: turn}
	switch {
	case e.Kind == history.EntryCall && e.Call != nil:
		row.What, row.Call, row.Tool, row.Args = Call, e.Call.ID, e.Call.Name, Abridged(e.Call.Args)
	case e.Kind == history.EntryStarted && e.Call != nil:
		j := l.judgement(agent, e.Call.ID)
		row.What, row.Call, row.Decision, row.By, row.Began = Runs, e.Call.ID, j.Decision, j.By, j.Began
	case e.Kind == history.EntryResult && e.Result != nil:
		r := e.Result
		j := l.judgement(agent, r.ID)
		row.What, row.Call, row.Tool, row.Decision, row.By, row.Began = Ended, r.ID, r.Name, j.Decision, j.By, j.Began
		row.Outcome, row.Bytes, row.Millis = outcome(r), int64(len(r.Text)), r.Millis
	case e.Kind == history.EntryShell && e.Shell != nil:
		row.What, row.Tool, row.Decision, row.By = Shell, "bash", Allowed, named(e.Shell.By)
		row.Args = spelled(map[string]any{"command": cut(e.Shell.Command)})
		row.Outcome, row.Bytes, row.Millis = exit(e.Shell.Exit), int64(len(e.Shell.Output)), e.Shell.Millis
	case e.Kind == history.EntryEnded && e.End != nil && e.End.Outcome != history.Completed:
		row.What, row.Outcome, row.By, row.Millis = Stop, string(e.End.Outcome), clip(e.End.Error, maxCause), e.End.Millis
	default:
		return nil
	}
	return l.add(tx, row)
}

// Answered is how a question about a call ended.
type Answered struct {
	Agent, Turn int64
	Call        string // its id
	Asked       string // in one line
	Rule        string // given together with it; "": none
	Decision    string // "": none
	By          string
}

// Answered adds the row of an answer.
func (l *Log) Answered(tx *store.Tx, a Answered) error {
	asked := map[string]any{"asked": cut(a.Asked)}
	if a.Rule != "" {
		asked["rule"] = a.Rule
	}
	return l.add(tx, store.Audit{
		What: Answer, Agent: a.Agent, Turn: a.Turn, Call: a.Call, Args: spelled(asked), Decision: a.Decision, By: cut(a.By),
	})
}

// Revoked adds the row of a rule that was revoked. by, here and in Switched, is the result of [Who].
func (l *Log) Revoked(tx *store.Tx, rule, by string) error {
	args := spelled(map[string]any{"rule": rule})
	return l.add(tx, store.Audit{What: Grant, Args: args, Decision: "taken back", By: named(by)})
}

// Filed adds the row of an answer to a rule that a file of the workspace wants.
func (l *Log) Filed(tx *store.Tx, rule, from, answer, by string) error {
	args := spelled(map[string]any{"rule": rule, "from": from})
	return l.add(tx, store.Audit{What: Grant, Args: args, Decision: answer, By: named(by)})
}

// Switched adds the row of another permission mode.
func (l *Log) Switched(tx *store.Tx, was, mode, by string) error {
	return l.add(tx, store.Audit{What: Mode, Args: spelled(map[string]any{"mode": mode, "was": was}), By: named(by)})
}

// add adds a row. Its ID, At, Name and Hash are set here.
func (l *Log) add(tx *store.Tx, row store.Audit) error {
	if l == nil {
		return nil
	}
	if row.Agent != 0 && row.Name == "" {
		name, _, err := tx.AgentName(row.Agent)
		if err != nil {
			return err
		}
		row.Name = name
	}
	return l.append(tx, row)
}

// outcome says how a call ended.
func outcome(r *history.Result) string {
	switch {
	case r.Denied:
		return Refused
	case r.Exit != nil && *r.Exit != 0:
		return exit(*r.Exit)
	case r.Error:
		return "error"
	}
	return "ok"
}

func exit(code int) string {
	switch {
	case code == 0:
		return "ok"
	case code < 0:
		return "stopped"
	}
	return fmt.Sprintf("exit code %d", code)
}
