package cell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// lingers is how long processes that a command left running may go on after it.
const lingers = 100 * time.Millisecond

// Quit is the signal on which the first process of a sandbox whose plan is to adopt ends the command, everything that
// the command started, and itself. If it has not started the command yet it just ends.
const Quit = syscall.SIGHUP

// Act carries out the command line of a cell's process, and ends the process; it returns from any other. It skips the
// exit work of a program: the program has not begun.
func Act(args []string) {
	switch {
	case len(args) > 2 && args[0] == Name:
		syscall.Exit(Main(args))
	case len(args) > 2 && args[1] == Prober:
		syscall.Exit(Try(args[2:]))
	}
}

// Main is the first process of a sandbox: it sets up the sandbox according to the plan on its descriptor, starts the
// command in it, and ends with all other processes inside when the command has ended. It returns the exit code; for a
// command that a signal ended it is 128 and the signal's number, as in a shell.
func Main(args []string) int {
	runtime.LockOSThread()
	fd, err := strconv.Atoi(args[1])
	if err != nil || len(args) < 3 {
		return 125
	}
	syscall.CloseOnExec(fd)
	sheet := os.NewFile(uintptr(fd), "plan")
	r, code := lead(sheet, args[2:])
	if err := sheet.Truncate(0); err == nil {
		_, _ = sheet.WriteAt(r.encode(), 0)
	}
	return code
}

// lead makes the sandbox and carries the command out in it.
func lead(sheet *os.File, argv []string) (r Report, code int) {
	fault := func(err error) (Report, int) { return Report{Fault: err.Error()}, 125 }
	text, err := io.ReadAll(io.NewSectionReader(sheet, 0, 1<<24))
	if err != nil {
		return fault(err)
	}
	p, err := decode(text)
	if err != nil {
		return fault(err)
	}
	if err := p.enter(); err != nil {
		return fault(err)
	}
	// A signal to end the command's group is for the command: this process ends with it. It catches these signals and
	// does nothing: the command would inherit signals that it ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	quit := make(chan os.Signal, 1)
	var extra []uintptr // the command's descriptors besides its standard files: those below the plan's
	for n := uintptr(0); n < sheet.Fd(); n++ {
		extra = append(extra, n)
	}
	var handle int // of the command: its number may be reused
	start := func() (pid int, err error) {
		if err := p.Restrict(); err != nil {
			return 0, err
		}
		attr := &syscall.ProcAttr{Env: os.Environ(), Files: extra, Sys: &syscall.SysProcAttr{PidFD: &handle}}
		if pid, err = syscall.ForkExec(argv[0], argv, attr); err != nil {
			return 0, fmt.Errorf("start %s: %w", argv[0], err)
		}
		return pid, nil
	}
	if p.Adopts {
		signal.Notify(quit, Quit)
		start = adopting(start)
	}
	pid, err := start()
	if err != nil {
		return fault(err)
	}
	var hurry atomic.Bool
	go func() {
		<-quit
		hurry.Store(true)
		_ = kill(handle)
	}()
	for _, n := range extra { // a reader of the other end waits until the last copy is closed
		_ = syscall.Close(int(n))
	}
	status := await(pid)
	r.Left = leaves(&hurry)
	if r.Left && p.Adopts {
		sweep()
	}
	if status.Signaled() {
		r.Signal = int(status.Signal())
		return r, 128 + r.Signal
	}
	return r, status.ExitStatus()
}

// await reaps ended processes until pid has ended.
func await(pid int) (status syscall.WaitStatus) {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == nil && got == pid:
			return ws
		case err != nil && !errors.Is(err, syscall.EINTR):
			return status
		}
	}
}

// leaves waits a moment for processes that the command left running, unless hurry is set. It reports whether some are
// left.
func leaves(hurry *atomic.Bool) bool {
	for stop := time.Now().Add(lingers); ; pause() {
		if childless() {
			return false
		}
		if hurry.Load() || time.Now().After(stop) {
			return true
		}
	}
}

// childless reaps ended children, and reports whether none is left.
func childless() bool {
	for {
		switch got, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); {
		case errors.Is(err, syscall.ECHILD):
			return true
		case got == 0:
			return false
		}
	}
}

func pause() {
	short := syscall.NsecToTimespec(int64(2 * time.Millisecond))
	_ = syscall.Nanosleep(&short, nil)
}

// adopting wraps start for a process that adopts: every descendant of the process that start starts becomes its child
// once its parents have ended. A thread that is discarded calls start, so that the descendants may not signal or trace
// this process.
func adopting(start func() (int, error)) func() (int, error) {
	return func() (pid int, err error) {
		if err := prctl(setDumpable, 0); err != nil {
			return 0, fmt.Errorf("keep the command from its first process: %w", err)
		}
		if err := prctl(setSubreaper, 1); err != nil {
			return 0, fmt.Errorf("adopt what the command leaves behind: %w", err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // until it ends, with the goroutine
			pid, err = start()
		}()
		<-done
		return pid, err
	}
}

// sweeps is how long sweep keeps killing adopted processes.
const sweeps = time.Second

// sweep kills all processes that this one has adopted. Children of a killed process become this one's, and as only this
// one reaps them, none of their numbers is reused meanwhile. Some may fork faster than they are found: there is no
// pause while new ones come.
func sweep() {
	known := map[int]bool{}
	for stop := time.Now().Add(sweeps); !childless() && time.Now().Before(stop); {
		fresh := false
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			fresh = fresh || !known[pid]
			known[pid] = true
		}
		if !fresh {
			pause()
		}
	}
}

// children returns this process's children; none, if the kernel does not list them.
func children() (pids []int) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		text, _ := os.ReadFile("/proc/self/task/" + t.Name() + "/children") // the thread may have ended
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// enter sets up the plan's network and mounts. The process is the first of its namespaces.
func (p Plan) enter() error {
	if p.User != 0 {
		if err := p.named(); err != nil {
			return fmt.Errorf("say who it is: %w", err)
		}
	}
	if p.Loopback {
		if err := loopback(); err != nil {
			return fmt.Errorf("bring up the loopback: %w", err)
		}
	}
	if len(p.Mounts) > 0 {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("separate the mounts: %w", err)
		}
	}
	from := make([]int, len(p.Mounts))
	for i, m := range p.Mounts {
		if from[i] = -1; m.Op != Bind && m.Op != Node && m.Op != Hide {
			continue
		}
		fd, err := syscall.Open(m.From, oPath|syscall.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("find %s: %w", m.From, err)
		}
		defer syscall.Close(fd)
		from[i] = fd
	}
	for i, m := range p.Mounts {
		if err := m.make(from[i]); err != nil {
			return fmt.Errorf("%s %s: %w", m.Op, m.To, err)
		}
	}
	// Dir is now below a mount.
	if err := syscall.Chdir(p.Dir); err != nil {
		return fmt.Errorf("go to %s: %w", p.Dir, err)
	}
	return nil
}

// named gives the user and the group of the process their numbers in its namespace. Its parent may conceal itself; then
// only the process itself can write them, after it has become another program.
func (p Plan) named() error {
	for _, f := range [][2]string{
		{"setgroups", "deny"},
		{"uid_map", fmt.Sprintf("%d %d 1", p.User, p.User)},
		{"gid_map", fmt.Sprintf("%d %d 1", p.Group, p.Group)},
	} {
		if err := os.WriteFile("/proc/self/"+f[0], []byte(f[1]), 0); err != nil {
			return err
		}
	}
	return nil
}

// make makes one mount; from is the descriptor of its source.
func (m Mount) make(from int) error {
	switch m.Op {
	case Bind, Node:
		source := "/proc/self/fd/" + strconv.Itoa(from)
		err := syscall.Mount(source, m.To, "", syscall.MS_BIND|syscall.MS_REC, "")
		if errors.Is(err, syscall.ENOENT) {
			if err = place(from, m.To); err == nil {
				err = syscall.Mount(source, m.To, "", syscall.MS_BIND|syscall.MS_REC, "")
			}
		}
		if err == nil && m.Op == Node {
			err = attribute(m.To, 0, readOnly|noDevices)
		}
		return err
	case Hide:
		err := syscall.Mount("/proc/self/fd/"+strconv.Itoa(from), m.To, "", syscall.MS_BIND, "")
		switch {
		case err == nil:
			return attribute(m.To, readOnly|noDevices, 0)
		case errors.Is(err, syscall.ENOENT):
			return nil
		}
		return err
	case Empty:
		return m.directory("none", "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=0755")
	case FS:
		options := ""
		if m.From == "devpts" {
			options = "newinstance,ptmxmode=0666,mode=0620"
		}
		return m.directory(m.From, m.From, syscall.MS_NOSUID|syscall.MS_NOEXEC, options)
	case Link:
		return syscall.Symlink(m.From, m.To)
	case ReadOnly:
		return attribute(m.To, readOnly|noDevices, 0)
	case Closed:
		return attributeOf(m.To, 0, readOnly, 0)
	case Writable:
		return attribute(m.To, 0, readOnly)
	}
	return syscall.EINVAL
}

// directory mounts a file system of that kind at a directory.
func (m Mount) directory(name, kind string, flags uintptr, options string) error {
	err := syscall.Mount(name, m.To, kind, flags, options)
	if errors.Is(err, syscall.ENOENT) {
		if err = syscall.Mkdir(m.To, 0o755); err == nil {
			err = syscall.Mount(name, m.To, kind, flags, options)
		}
	}
	return err
}

// place creates the mount point for from, with the directories above it.
func place(from int, path string) error {
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			if err := syscall.Mkdir(path[:i], 0o755); err != nil && !errors.Is(err, syscall.EEXIST) && !errors.Is(err, syscall.EROFS) {
				return err
			}
		}
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(from, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return syscall.Mkdir(path, 0o755)
	}
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}
