package guard

import (
	"log"
	"os"
	"os/exec"
	"syscall"
)

// herald is a small process that reads what the runtime of the language writes when
// it ends this one, which no code of ours outlives: it writes that into a file and
// says one line. Everything else passes through it, a panic too: its value may hold
// what no file shall. It is there only where a limit of memory can run out; without
// one the kernel ends the process, and there is nothing to read.
type herald struct {
	cmd *exec.Cmd
	was *os.File // standard error; nil: there is no herald
}

// heralding is what the herald runs: $1 where the file goes, $2 the limits of memory.
const heralding = `trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2 TSTP TTIN TTOU
umask 077
while IFS= read -r line || [ -n "$line" ]; do
	case $line in
	'fatal error: '* | 'runtime: '* | 'runtime/cgo: '* | 'unexpected fault '* | SIG[A-Z]*': '*) ;;
	*)
		printf '%s\n' "$line" >&2
		continue
		;;
	esac
	why="the program failed ($line)"
	case $line in
	*memory*) why="out of memory: this process may have no more under $2" ;;
	*pthread_create* | *'new OS thread'*) why="no memory for another thread: this process may have no more under $2, or the user no more processes" ;;
	esac
	file=$(mktemp "$1/fantail-crash-XXXXXX") && { printf '%s\n' "$line"; cat; } >"$file"
	printf 'fantail: %s; messages and transcripts are on disk; details are in %s\n' "$why" "$file" >&2
done
`

// start starts the process, and puts standard error of everything but the runtime aside.
func (h *herald) start(dir, set string) error {
	fd, err := syscall.Dup(syscall.Stderr)
	if err != nil {
		return err
	}
	syscall.CloseOnExec(fd)
	was := os.NewFile(uintptr(fd), os.Stderr.Name())
	r, w, err := os.Pipe()
	if err != nil {
		was.Close()
		return err
	}
	defer r.Close()
	defer w.Close()
	c := exec.Command("/bin/sh", "-c", heralding, "fantail-herald", dir, set)
	c.Dir, c.Env, c.Stdin, c.Stderr = "/", []string{"PATH=/usr/bin:/bin:/usr/local/bin", "LC_ALL=C"}, r, was
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends our group does not end it
	if err := c.Start(); err != nil {
		was.Close()
		return err
	}
	if err := Redirect(w, syscall.Stderr); err != nil {
		was.Close()
		return err // its input ends with w
	}
	os.Stderr = was
	log.SetOutput(was)
	h.cmd, h.was = c, was
	return nil
}

// leave ends the herald, who has nothing to say. Without it the herald ends after this
// process, and somebody else reaps it.
func (h *herald) leave() {
	if h.was == nil {
		return
	}
	_ = Redirect(h.was, syscall.Stderr) // its input ends
	_ = h.cmd.Wait()
}
