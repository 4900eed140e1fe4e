package screen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"fantail/store/paths"
	"fantail/ui/screen/tty"
	"fantail/ui/screen/wire"
)

// HostWords are the arguments that make the program a host.
const HostWords = "host serve"

// Ready is the descriptor on which a newly started host reports the outcome: [Serves], [Alone], or an error text for
// people.
const (
	Ready  = 3
	Serves = "serves\n"
	Alone  = "alone\n" // no host can run here: the process must do the host's work itself
)

// startsWithin is how long a host may take to report that it serves: it may have a database to migrate. startsEvery is
// how often a process checks while it waits for another process to start a host.
const (
	startsWithin = time.Minute
	startsEvery  = 5 * time.Millisecond
)

// ErrAlone says that no host can serve this start.
var ErrAlone = errors.New("no host can be here")

// Refusal is the error text of a host that could not start: lines for people.
type Refusal string

func (r Refusal) Error() string { return string(r) }

func tty0and1() bool { return tty.Is(0) && tty.Is(1) }

// Start shows the workspace of the current directory on the terminal, as the command line asks, and returns the exit
// code. It returns false if the arguments ask for something else, or if something is wrong that the program itself can
// report better.
func Start(args []string) (code int, shown bool) {
	asked, shows := read(args)
	if !shows {
		return 0, false
	}
	dir, err := paths.Abs(asked.dir)
	if err != nil {
		return 0, false
	}
	data, socket, err := placeOf(dir)
	if err != nil {
		return 0, false
	}
	_ = inTmux() // it takes a while, and a busy host drops a connection that stays silent
	at := found()
	for silent := 0; silent < hosts; {
		host, err := reach(socket, dir, at.show)
		if err != nil {
			at.close()
		}
		var said Refusal
		switch {
		case errors.As(err, &said):
			fmt.Fprintf(os.Stderr, "%s", string(said))
			return 1, true
		case err != nil:
			return 0, false
		}
		code, end := relayed(host, hello(args, dir, at), at)
		if at.met { // that host has the prompt; the next one must not send it again
			args = asked.args
		}
		switch end {
		case Over:
			return code, true
		case Next:
			silent = 0
		case Silent:
			silent++
		}
	}
	_ = tty.Forget(0) // it was typed for a host, not for the shell
	fmt.Fprintf(os.Stderr, "fantail: %d hosts in a row ended before they had shown anything; %s may tell why\n", hosts, path.Join(data, paths.HostLog))
	return 1, true
}

// placeOf returns the data directory of the workspace that contains dir, and the path of its host's socket. It creates
// both directories.
func placeOf(dir string) (data, socket string, err error) {
	if data, socket, err = whereOf(dir); err != nil {
		return "", "", err
	}
	if err := paths.MakePrivate(data); err != nil {
		return "", "", err
	}
	return data, socket, paths.MakePrivate(path.Dir(socket))
}

// whereOf is [placeOf] without creating directories.
func whereOf(dir string) (data, socket string, err error) {
	root, err := paths.Workspace(dir)
	if err != nil {
		return "", "", err
	}
	if data, err = paths.Data(os.Getenv, root); err != nil {
		return "", "", err
	}
	return data, paths.Screens(os.Getenv, os.Geteuid(), data), nil
}

// Reach returns a connection to the host of the workspace that contains dir, and starts a host if there is none. The
// error is [ErrAlone] or a [Refusal] if the host says so.
func Reach(dir string) (fd int, err error) {
	_, socket, err := placeOf(dir)
	if err != nil {
		return -1, err
	}
	return reach(socket, dir, func() {})
}

// Build identifies the executable file of this process; "" if that can't be found out.
func Build() string {
	info, err := os.Stat("/proc/self/exe")
	if err != nil {
		path, e := os.Executable()
		if e != nil {
			return ""
		}
		if info, err = os.Stat(path); err != nil {
			return ""
		}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d", st.Dev, st.Ino, info.ModTime().UnixNano())
}

// hosts is how many hosts are tried: one that is about to end accepts no connection.
const hosts = 5

// Shell returns the fields that tell a host where the process was started.
func Shell(args []string, dir string) wire.Fields {
	var f wire.Fields
	f.Add(wire.Dir, dir)
	f.Add(wire.Build, Build())
	for _, a := range args {
		f.Add(wire.Arg, a)
	}
	for _, e := range os.Environ() {
		f.Add(wire.Env, e)
	}
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	f.Add(wire.Umask, strconv.FormatInt(int64(mask), 8))
	return f
}

// Hello returns the fields with which this process introduces itself to a host as a screen.
func Hello(args []string, dir string) wire.Fields { return hello(args, dir, found()) }

func hello(args []string, dir string, at *front) wire.Fields {
	f := Shell(args, dir)
	if size := columns(1); size != "" {
		f.Add(wire.Columns, size)
	}
	if at.was != (tty.Modes{}) {
		f.Add(wire.Modes, at.was.String())
	}
	if inTmux() {
		f.Add(wire.Colors, "truecolor")
	}
	return f
}

// columns returns the terminal's width as a hello spells it; "" if it is unknown.
func columns(fd int) string {
	w, h, err := tty.Size(fd)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%dx%d", w, h)
}

// reach returns a socket to the workspace's host. If there is none, it starts one, which takes a while, and calls slow
// meanwhile.
func reach(socket, dir string, slow func()) (int, error) {
	host, err := connect(socket, greeting)
	if err == nil || !absent(err) {
		return host, err
	}
	called := make(chan struct{})
	go func() {
		defer close(called)
		slow()
	}()
	defer func() { <-called }()
	// Of several processes that start at once, one starts the host, and the others wait for it.
	door, err := syscall.Open(socket+".start", syscall.O_RDWR|syscall.O_CREAT|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return -1, err
	}
	defer syscall.Close(door)
	if host, err = turn(door, socket, startsWithin); err != nil || host >= 0 {
		return host, err
	}
	for range hosts {
		if host, err = connect(socket, greeting); err == nil || !absent(err) {
			return host, err
		}
		if err := startHost(dir); err != nil { // nil, too, if one answers that is about to end
			return -1, err
		}
	}
	return connect(socket, greeting)
}

// turn waits until this process holds the lock on door and so may start the host; then it returns -1. It returns a
// connection if another process has started a host.
func turn(door int, socket string, within time.Duration) (host int, err error) {
	for end := time.Now().Add(within); ; {
		err = syscall.Flock(door, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !again(err) {
			return -1, err
		}
		if time.Now().After(end) {
			return -1, Refusal(fmt.Sprintf("fantail: another fantail, which was to start the workspace's host, has not done so within %v: end it, and try again\n", within))
		}
		time.Sleep(startsEvery)
		if host, err = connect(socket, greeting); err == nil || !absent(err) {
			return host, err
		}
	}
}

// absent reports whether no host listens there.
func absent(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// connect returns a connection to the host that listens at the socket and belongs to this user. If patience is not 0,
// neither connect nor any later read or write on the connection takes longer than that.
func connect(socket string, patience time.Duration) (int, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return -1, fmt.Errorf("make a socket: %w", err)
	}
	syscall.CloseOnExec(fd)
	if err = errors.Join(wait(fd, syscall.SO_SNDTIMEO, patience), wait(fd, syscall.SO_RCVTIMEO, patience)); err == nil {
		err = syscall.EINTR
	}
	for err == syscall.EINTR {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: socket})
	}
	if err == syscall.EAGAIN || err == syscall.EINPROGRESS { // the host's backlog is full
		syscall.Close(fd)
		return -1, Refusal("fantail: the workspace's host accepts no screens any more; " + hung)
	}
	if err == nil {
		err = ours(fd)
	}
	if err != nil {
		syscall.Close(fd)
		return -1, fmt.Errorf("connect to the host: %w", err)
	}
	return fd, nil
}

// wait sets how long a read or write may block, by SO_RCVTIMEO or SO_SNDTIMEO; 0: for ever.
func wait(fd, option int, patience time.Duration) error {
	t := syscall.NsecToTimeval(patience.Nanoseconds())
	return syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &t)
}

// ours returns an error unless the other end of the connection belongs to this user.
func ours(fd int) error {
	switch _, uid, err := peer(fd); {
	case err != nil:
		return err
	case uid != os.Geteuid():
		return fmt.Errorf("it belongs to uid %d", uid)
	}
	return nil
}

// Hurry is what the environment tells a host that starts: to collect no garbage before its first picture, unless its
// heap grows very large. What the libraries allocate at initialisation stays alive, so that a collection meanwhile, on
// the same few cores, would only cause delay.
const Hurry = "GOGC=off GOMEMLIMIT=64MiB"

// hurried returns the environment of a host. A setting of the garbage collector in the user's own environment is left
// alone.
func hurried(environ []string) []string {
	for _, kv := range environ {
		if strings.HasPrefix(kv, "GOGC=") || strings.HasPrefix(kv, "GOMEMLIMIT=") {
			return environ
		}
	}
	return append(environ, strings.Fields(Hurry)...)
}

// startHost starts a host for the workspace that contains dir, and returns once it serves.
func startHost(dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	says, ready, err := os.Pipe()
	if err != nil {
		return err
	}
	defer says.Close()
	p, err := os.StartProcess(program, append([]string{program}, strings.Fields(HostWords)...), &os.ProcAttr{
		Dir: dir, Env: hurried(os.Environ()), Files: []*os.File{null, null, ready, ready}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	ready.Close()
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }()
	if err := says.SetReadDeadline(time.Now().Add(startsWithin)); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(says, 64<<10))
	warned, serves := strings.CutSuffix(string(text), Serves)
	switch {
	case serves:
		_, err = os.Stderr.WriteString(warned)
		return err
	case strings.HasSuffix(string(text), Alone):
		return ErrAlone
	case len(text) > 0:
		return Refusal(text)
	case err != nil:
		return Refusal(fmt.Sprintf("fantail: its host (process %d) does not say that it started: %v\n", p.Pid, err))
	}
	return Refusal("fantail: its host ended before it had started\n")
}

// inTmux reports whether tmux shows all colours here, which its environment does not tell. It asks tmux once.
var inTmux = sync.OnceValue(asksTmux)

func asksTmux() bool {
	if os.Getenv("TMUX") == "" {
		return false
	}
	says, out, err := os.Pipe()
	if err != nil {
		return false
	}
	defer says.Close()
	// Its PATH finds it, or there is none.
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "exec tmux info 2>/dev/null"}, &os.ProcAttr{Files: []*os.File{nil, out, nil}})
	out.Close()
	if err != nil {
		return false
	}
	_ = says.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	text, err := io.ReadAll(io.LimitReader(says, 1<<20))
	if err != nil {
		_ = p.Kill()
	}
	_, _ = p.Wait()
	for line := range strings.Lines(string(text)) {
		if (strings.Contains(line, "Tc") || strings.Contains(line, "RGB")) && strings.Contains(line, "true") {
			return true
		}
	}
	return false
}
