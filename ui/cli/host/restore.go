package host

import (
	"slices"
	"time"

	"fantail/tools/proc"
	"fantail/ui/screen/tty"
)

// A screen that is killed leaves its terminal as a full screen needs it, and its shell prompts there
// at once. The kernel closes the screen's connection before it tells the shell, so most often the
// host is first. Where it is not:
//   - bash, fish and ksh set their own modes when a job died of a signal: those stay.
//   - sh sets none: it gets those that the screen found, before or after its prompt.
//   - zsh takes the modes it finds for its own, edits its line with some made of them, and gives them
//     to every command. Nobody else can tell it better, so it says how the human can.

const (
	killed  = "\r\nfantail: this screen was killed; the agents are where they were, fantail shows them again\r\n"
	adopted = "\r\nfantail: this shell has kept the modes of the screen that was killed; stty sane gives it its own\r\n"
)

// prompts is how long a shell may take to prompt after its job has died.
const prompts = 100 * time.Millisecond

// died gives the terminal back of a screen that ended without a word.
func (s *client) died() {
	s.mu.Lock()
	leaves, away := s.parted, s.back != nil
	s.mu.Unlock()
	if leaves || away || s.hello.terminal == nil { // it has what it had, or somebody else has it
		return
	}
	raw, err := s.hello.terminal.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // while this runs nobody can close it
		if s.hello.restore(int(fd)) {
			s.host.wait(prompts)
			s.hello.advise(int(fd))
		}
	})
}

// restore gives the terminal back, and reports whether it could. Modes that somebody has set since
// stay, and so does all that another job has made of the terminal.
func (h *Hello) restore(fd int) bool {
	if h.job.replaced() {
		return false
	}
	is, err := tty.Get(fd)
	if err != nil {
		return false // it is gone too
	}
	if h.known && is == h.was.Raw() {
		_ = h.was.Set(fd)
	}
	return tty.Say(fd, tty.Undo+killed, endsWithin) == nil
}

// advise says what to do where the shell has taken the screen's modes for its own.
func (h *Hello) advise(fd int) {
	is, err := tty.Get(fd)
	if err == nil && h.known && h.was.Lines() && !is.Lines() && !h.job.replaced() {
		_ = tty.Say(fd, adopted, endsWithin)
	}
}

// job is a screen among the processes of its terminal's session: who may take the terminal when it
// has died without another job having started.
type job struct {
	kin    []kin
	groups []int // theirs
}

// kin is the screen, who started it, or the first of the session.
type kin struct {
	pid     int
	started int64
}

// jobOf is that of the screen with that number; empty if that can't be seen.
func jobOf(pid int) (j job) {
	screen, there := proc.Look(pid)
	for p := screen; there && pid > 1 && p.Session == screen.Session; p, there = proc.Look(pid) {
		j.add(pid, p)
		pid = p.Parent
	}
	if first, there := proc.Look(screen.Session); there && first.Session == screen.Session && screen.Session > 0 {
		j.add(screen.Session, first)
	}
	return j
}

func (j *job) add(pid int, p proc.Process) {
	j.kin, j.groups = append(j.kin, kin{pid, p.Started}), append(j.groups, p.Group)
}

// replaced reports whether a job that was not there before is in the foreground of the terminal. The
// host has another session, so that it can't ask the terminal itself.
func (j job) replaced() bool {
	for _, k := range j.kin {
		if p, there := proc.Look(k.pid); there && p.Started == k.started && p.Foreground > 0 {
			return !slices.Contains(j.groups, p.Foreground)
		}
	}
	return false
}
