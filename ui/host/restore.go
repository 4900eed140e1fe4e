package host

import (
	"slices"
	"time"

	"fantail/tools/proc"
	"fantail/ui/screen/tty"
)

// A screen that is killed leaves its terminal in the modes of a full screen, and its shell prompts there at once. The
// kernel closes the screen's connection before it tells the shell, so most often the host is first. Where it is not:
//   - bash, fish and ksh set their own modes when a job died of a signal: those stay.
//   - sh sets none: it gets those that the screen found, before or after its prompt.
//   - zsh takes the modes that it finds for its own, edits its line with some made of them, and gives them
//     to every command. No other process can correct that, so the host says how the human can.

const (
	killed  = "\r\nfantail: this screen was killed; the agents are where they were, fantail shows them again\r\n"
	adopted = "\r\nfantail: this shell has kept the modes of the screen that was killed; stty sane gives it its own\r\n"
)

// How long a shell may take to prompt after its job has died.
const (
	prompts = 100 * time.Millisecond // times looks
	looks   = 10
)

// died restores the terminal of a screen that ended without a goodbye.
func (s *client) died() {
	s.mu.Lock()
	leaves, away := s.parted, s.back != nil
	s.mu.Unlock()
	if leaves || away || s.hello.terminal == nil { // the screen restored it, or another program has it
		return
	}
	raw, err := s.hello.terminal.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // while this runs it can't be closed
		if s.hello.restore(int(fd)) {
			for range looks {
				if s.host.wait(prompts); s.hello.advise(int(fd)) {
					break
				}
			}
		}
	})
}

// restore restores the terminal, and reports whether it could. It leaves alone modes that were set since, and
// everything that another job has made of the terminal.
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

// advise says what to do if the shell has taken the screen's modes for its own, and reports whether that is so.
func (h *Hello) advise(fd int) bool {
	is, err := tty.Get(fd)
	if err != nil || !h.known || !h.was.Lines() || is.Lines() || h.job.replaced() {
		return false
	}
	return tty.Say(fd, adopted, endsWithin) == nil
}

// job is a screen and its related processes in the terminal's session: those that may have the terminal after its
// death without another job having started.
type job struct {
	kin    []kin
	groups []int // theirs
}

// kin is the screen, one of its ancestors, or the first process of the session.
type kin struct {
	pid     int
	started int64
}

// jobOf returns the job of the screen with that process id; it is empty if the process can't be seen.
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

// replaced reports whether a job that did not exist before is in the foreground of the terminal. The host belongs to
// another session, so it can't ask the terminal itself.
func (j job) replaced() bool {
	for _, k := range j.kin {
		if p, there := proc.Look(k.pid); there && p.Started == k.started && p.Foreground > 0 {
			return !slices.Contains(j.groups, p.Foreground)
		}
	}
	return false
}
