package guard

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// keeper is a small process that outlives this one. When this one dies without
// having said so (killed, or by a fault that no program survives) it ends the
// commands that ran and gives the terminal back as it was. It reads what it needs
// from a pipe, whose end tells it. It costs nothing while nothing happens.
type keeper struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	pipe  *os.File // nil: there is none
	tried bool

	groups map[int]bool // that are to be ended, by their leader
}

// keeping is what the keeper runs: $1 the terminal's modes as they were, $2 as the
// screen has them, $3 what to write to the terminal, on descriptor 3. Modes that
// somebody changed since, the shell for its prompt, are left alone. A group's
// number can't have been given away: its leader is reaped after "end" at the earliest.
const keeping = `trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2 TSTP TTIN TTOU
groups=' '
while read -r word group; do
	case $word in
	run) groups="$groups$group " ;;
	end) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
	clear) set -- ;; # the terminal is as it was
	bye) exit ;;
	esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
[ -n "$1" ] || exit
printf '%s' "$3" >&3
[ "$(stty -g <&3)" != "$2" ] || stty "$1" <&3
printf '%s' "$4" >&3
`

// Undoes what the screen sets: synchronized output, the keyboard's protocols (each
// screen has its own), mouse, focus, paste, colours, the alternate screen, the cursor.
const (
	leaves = "\x1b[?2026l\x1b[<1u\x1b[>4m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[m\x1b[?1049l\x1b[=0u\x1b[?25h\x1b[0 q"
	killed = "\rfantail: the program was killed or failed; messages and transcripts are on disk, start fantail again to go on\r\n"
)

// watch starts the keeper for the terminal, whose modes are those to be given back.
func (k *keeper) watch(in, out *os.File) error {
	was, raw, err := modes(in)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.start(out, was, raw, leaves, killed)
}

// start starts the process. The caller holds mu.
func (k *keeper) start(terminal *os.File, args ...string) error {
	k.tried = true
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	c := exec.Command("/bin/sh", append([]string{"-c", keeping, "fantail-keeper"}, args...)...)
	c.Dir, c.Env, c.Stdin = "/", []string{"PATH=/usr/bin:/bin:/usr/local/bin", "LC_ALL=C"}, r
	if terminal != nil {
		c.ExtraFiles = []*os.File{terminal}
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends our group or our terminal does not end it
	if err := c.Start(); err != nil {
		w.Close()
		return fmt.Errorf("start its keeper: %w", err)
	}
	k.cmd, k.pipe = c, w
	return nil
}

// tell sends a line; a keeper that somebody ended hears nothing.
func (k *keeper) tell(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pipe != nil {
		_, _ = fmt.Fprintf(k.pipe, format+"\n", args...)
	}
}

// leave has the keeper end and do nothing.
func (k *keeper) leave() {
	k.tell("bye")
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pipe == nil {
		return
	}
	_ = k.pipe.Close()
	k.pipe = nil
	_ = k.cmd.Wait() // it ends at once; nobody else would reap it
}
