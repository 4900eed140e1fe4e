// Package watchdog starts a small process that outlives this one. When this one is killed, or dies of a fault that no
// program survives, the watchdog cleans up.
//
// Does: start that process and tell it what to clean up; it ends the commands that ran and restores the terminal.
//
// Does not: watch for anything else, or decide what is written to a terminal. The start gate needs it: it imports
// nothing but the standard library's small packages.
package watchdog

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
)

// Watchdog is that process. It reads its orders from a pipe, whose end tells it that this process died, and costs
// nothing until then. The zero value is a watchdog that is not started; a nil one does nothing.
type Watchdog struct {
	mu      sync.Mutex
	process *os.Process
	pipe    *os.File // nil: it is not started
}

// script is the program of the watchdog, for a shell. Descriptor 3 is the terminal. Without /proc it can't know which
// process has the terminal, nor that a process is stopped.
//   - A group's number can't have been reused: its leader is reaped after "end" at the earliest.
//   - Modes that were changed since, by the shell for its prompt, are left alone. The script takes a moment for that:
//     a change between a look at them and its own change would be lost.
//   - The screen's settings are undone by its host, if that lives and is not stopped.
//   - Another job's terminal is left alone.
//   - Nothing here names the program: killing all processes with its name on the command line spares this one.
const script = `trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2 TSTP TTIN TTOU
groups=' ' terminal= undo= advice=
while read -r word rest; do
	case $word in
	run) groups="$groups$rest " ;;
	end) groups="${groups%% "$rest" *} ${groups#* "$rest" }" ;;
	undo) undo=$rest ;;
	advice) advice=$rest ;;
	terminal) terminal=$rest ;;
	restored) terminal= ;;
	esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
[ -n "$terminal" ] || exit

lives() {
	kill -s 0 "$1" || return 1
	read -r stat <"/proc/$1/stat" || return 0
	case ${stat##*) } in [ZXTt]*) return 1 ;; esac
}
replaced() {
	read -r stat <"/proc/$session/stat" || return 1
	set -- ${stat##*) }
	[ "$6" -gt 0 ] || return 1
	case " $ours " in *" $6 "*) return 1 ;; esac
}
set -- $terminal
host=$1 session=$2 was=$3 raw=$4
shift 4
ours=$*
for wait in 0.1 0.1 no; do
	[ $wait != no ] || exit
	sleep $wait
	lives "$host" || break
done
replaced && exit
[ "$(stty -g <&3)" != "$raw" ] || stty "$was" <&3
printf '%s\r\n' "$undo" >&3
[ -n "$advice" ] || exit
for look in 1 2 3 4 5 6 7 8 9 10; do # a shell may be slow to prompt
	sleep 0.1
	replaced && exit
	case $(stty -a <&3) in *-opost*) break ;; esac
	[ $look != 10 ] || exit
done
printf '%s\r\n' "$advice" >&3
`

// where are the programs that the script runs.
const where = "PATH=/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin"

// Start starts the process, unless it runs. terminal is a descriptor of the terminal that it may have to give back; -1: none.
func (w *Watchdog) Start(terminal int) error {
	if w == nil {
		return os.ErrInvalid
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe != nil {
		return nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	r, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	files := []uintptr{r.Fd(), null.Fd(), null.Fd()}
	if terminal >= 0 {
		files = append(files, uintptr(terminal))
	}
	pid, _, err := syscall.StartProcess("/bin/sh", []string{"sh", "-c", script, "watchdog"}, &syscall.ProcAttr{
		Dir: "/", Env: []string{where, "LC_ALL=C"}, Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true}, // what ends our group or our terminal does not end it
	})
	if err == nil {
		w.process, err = os.FindProcess(pid)
	}
	if err != nil {
		pipe.Close()
		return fmt.Errorf("start a watchdog: %w", err)
	}
	w.pipe = pipe
	return nil
}

// PID returns the number of the process; 0: it is not started.
func (w *Watchdog) PID() int {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe == nil {
		return 0
	}
	return w.process.Pid
}

// tell sends lines. It has no effect if the watchdog was killed.
func (w *Watchdog) tell(lines string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe != nil {
		_, _ = w.pipe.WriteString(lines)
	}
}

// Kills makes it kill the processes of that group.
func (w *Watchdog) Kills(group int) { w.tell(fmt.Sprintf("run %d\n", group)) }

// Spares undoes Kills.
func (w *Watchdog) Spares(group int) { w.tell(fmt.Sprintf("end %d\n", group)) }

// Terminal is how a screen has changed its terminal, and how that is undone.
type Terminal struct {
	Host   int    // the process that does it, as long as it lives
	Was    string // the modes to restore, as stty -g spells them
	Raw    string // those that the screen has set; any other ones stay
	Undo   string // a line to write to it
	Advice string // written after that if a line feed does not start a new line there; "": nothing
}

// Restores makes the watchdog restore the terminal, unless a job has it that did not exist when the watchdog was
// started.
func (w *Watchdog) Restores(t Terminal) {
	session, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
	ours := []int{syscall.Getpgrp(), int(session)}
	if shell, err := syscall.Getpgid(os.Getppid()); err == nil {
		ours = append(ours, shell)
	}
	w.tell(fmt.Sprintf("undo %s\nadvice %s\nterminal %d %d %s %s %s\n", t.Undo, t.Advice, t.Host, session, t.Was, t.Raw, strings.Trim(fmt.Sprint(ours), "[]")))
}

// Restored tells it that the terminal is restored.
func (w *Watchdog) Restored() { w.tell("restored\n") }

// Leave makes it end and do nothing.
func (w *Watchdog) Leave() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe == nil {
		return
	}
	_ = w.process.Kill()
	_, _ = w.process.Wait() // no other goroutine reaps it
	_ = w.pipe.Close()
	w.pipe = nil
}
