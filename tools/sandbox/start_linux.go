package sandbox

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fantail/tools/sandbox/cell"
)

// Inside is a command to start, or started, in its box.
type Inside struct {
	box   *Box
	deaf  []string // sockets that are covered
	sheet *os.File // plan for the command's first process, and its report
}

// maxDeaf is how many sockets are hidden from a command one by one, each by a mount. Where there are more, the command
// can't make a socket that reaches any.
const maxDeaf = 64

// Enclose makes c a command in the box; it changes how c starts. The caller calls End after c ended, or could not
// start.
func (b *Box) Enclose(c *exec.Cmd) (_ *Inside, err error) {
	defer func() {
		if err != nil {
			b.backend.doubt()
		}
	}()
	deaf, may := b.sockets()
	filter, err := filterOf(may)
	if err != nil {
		return nil, err
	}
	in := &Inside{box: b, deaf: deaf}
	temporary := "/tmp"
	switch b.backend.Kind {
	case Bubblewrap:
		if in.sheet, err = sheetOf(filter); err != nil {
			return nil, err
		}
		fd := 3 + len(c.ExtraFiles)
		c.Args = append(append([]string{b.backend.bwrap}, b.bwrapArgs(deaf, os.Geteuid(), fd)...), command(c)...)
		c.Path = b.backend.bwrap
	case Namespaces, Landlock:
		plan := cell.Plan{Dir: b.dir, ABI: b.backend.abi, Rules: b.view.alone(), Filter: filter, Adopts: true}
		if b.backend.Kind == Namespaces {
			plan = b.plan(filter, deaf)
		} else {
			temporary = b.view.scratch
		}
		if in.sheet, err = sheetOf(plan.Encode()); err != nil {
			return nil, err
		}
		c.Args = append([]string{cell.Name, strconv.Itoa(3 + len(c.ExtraFiles))}, command(c)...)
		if c.Path, err = os.Executable(); err != nil { // a process that conceals itself can't open /proc/self/exe
			return nil, errors.Join(fmt.Errorf("find this program: %w", err), in.sheet.Close())
		}
		if b.backend.Kind == Namespaces {
			b.separate(c)
		} else if c.SysProcAttr != nil && c.SysProcAttr.Pdeathsig != 0 {
			c.SysProcAttr.Pdeathsig = cell.Quit // ends processes that left its session, which nothing else does
		}
	default:
		return nil, errors.New("there is no sandbox of the kind " + string(b.backend.Kind))
	}
	c.ExtraFiles = append(c.ExtraFiles, in.sheet)
	c.Env = b.view.environment(c.Env, temporary)
	return in, nil
}

// command is the command line of c.
func command(c *exec.Cmd) []string { return append([]string{c.Path}, c.Args[1:]...) }

// Start starts the command. The caller has locked itself to its thread. spent says that the sandbox now confines this
// thread too: the caller must discard it.
func (in *Inside) Start(c *exec.Cmd) (spent bool, err error) {
	defer func() {
		if err != nil {
			in.box.backend.doubt()
		}
	}()
	// A command would inherit files that this program was started with and left open: a directory's descriptor leads
	// out of any mounts. A kernel that can't mark them all at once has no Landlock either.
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return false, fmt.Errorf("keep open files from the command: %w", err)
	}
	if b := in.box; b.backend.Kind == Bubblewrap && b.view.net && b.scoped() {
		spent = true
		if err := cell.Scope(); err != nil {
			return spent, err
		}
	}
	return spent, c.Start()
}

// Quit asks the command's first process, which has that number and has not been waited for, to end the command and
// everything that it started. It returns false where ending that process does so anyway.
func (in *Inside) Quit(pid int) bool {
	return in != nil && in.box.backend.Kind == Landlock && unix.Kill(pid, cell.Quit) == nil
}

// End returns how the command's first process ended, if it reported that.
func (in *Inside) End() cell.Report {
	if in == nil {
		return cell.Report{}
	}
	defer in.sheet.Close()
	text, err := io.ReadAll(io.NewSectionReader(in.sheet, 0, 1<<16))
	if err != nil {
		return cell.Report{}
	}
	r, _ := cell.ReportOf(text)
	if r.Fault != "" {
		in.box.backend.doubt()
	}
	return r
}

// Unmade reports whether the output of a command that has ended is an error of bubblewrap's, which could not make the
// sandbox because a socket to cover had vanished.
func (in *Inside) Unmade(output string) bool {
	return in.failed(output) && strings.HasPrefix(output, "bwrap: Can't ") && strings.Count(output, "\n") == 1 &&
		slices.ContainsFunc(in.deaf, func(s string) bool { return strings.Contains(output, s) })
}

// Ended takes the exit code and the output of a command that has ended. An error of bubblewrap's, or what looks like one,
// makes an earlier verdict doubtful.
func (in *Inside) Ended(exit int, output string) {
	if exit == 1 && in.failed(output) && !in.Unmade(output) {
		in.box.backend.doubt()
	}
}

// failed reports whether the output begins as an error of bubblewrap's does.
func (in *Inside) failed(output string) bool {
	return in != nil && in.box.backend.Kind == Bubblewrap && strings.HasPrefix(output, "bwrap: ")
}

// WithoutSockets is the box for a command that can make no socket to reach one in the file system, so that none needs
// to be covered.
func (b *Box) WithoutSockets() *Box {
	c := *b
	c.mute = true
	return &c
}

// sockets returns the sockets to hide from the command one by one, and the kinds of sockets that it may make. Abstract
// names belong to the network, and the desktop listens at one: where nothing else keeps a command from them it makes no
// Unix sockets.
func (b *Box) sockets() (deaf []string, may sockets) {
	mounts := b.backend.Kind != Landlock
	may = sockets{wide: b.view.wide, unix: mounts && (!b.view.net || b.scoped()), inet: mounts || b.view.net, own: mounts}
	if mounts {
		deaf = b.view.deaf(listening())
	}
	if len(deaf) > maxDeaf || b.mute {
		deaf, may.unix = nil, false
	}
	return deaf, may
}

// Mark is equal for two boxes if a process that was started in one is now in the same place as one started in the
// other: they have the same paths, with the same files. "": unknown.
func (b *Box) Mark() string {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	deaf, may := b.sockets()
	var m strings.Builder
	fmt.Fprintf(&m, "%s %+v %+v %s", b.backend.Kind, b.view, may, mounts)
	at := func(path string) {
		var st unix.Stat_t
		if path != "" && unix.Lstat(path, &st) == nil {
			fmt.Fprintf(&m, "%x:%x ", st.Dev, st.Ino)
		}
		fmt.Fprintf(&m, "%q\n", path)
	}
	at(b.dir)
	if b.backend.Kind == Landlock {
		for _, r := range b.view.alone() {
			at(r.Path)
		}
		return m.String()
	}
	for _, s := range b.view.steps(deaf) {
		at(s.from)
		at(s.to)
	}
	return m.String()
}

// scoped reports whether the kernel keeps the command from abstract sockets. That does not work for a set-user-ID
// program, as bubblewrap is on some systems.
func (b *Box) scoped() bool {
	return b.backend.abi >= cell.Scopes && !(b.backend.Kind == Bubblewrap && b.backend.setuid)
}

// plan is what the first process in the new namespaces sets up.
func (b *Box) plan(filter []byte, deaf []string) cell.Plan {
	p := cell.Plan{Dir: b.dir, Loopback: !b.view.net, User: os.Geteuid(), Group: os.Getegid(), ABI: b.backend.abi, Rules: b.view.mounted(), Filter: filter}
	add := func(op cell.Op, from, to string) { p.Mounts = append(p.Mounts, cell.Mount{Op: op, From: from, To: to}) }
	add(cell.ReadOnly, "", "/")
	for _, s := range b.view.steps(deaf) {
		switch s.kind {
		case writable:
			add(cell.Bind, s.from, s.to)
			add(cell.Writable, "", s.to)
		case readable:
			add(cell.Bind, s.from, s.to)
			add(cell.ReadOnly, "", s.to)
		case hidden:
			add(cell.Hide, s.from, s.to)
		case empty:
			add(cell.Empty, "", s.to)
		case closed:
			add(cell.Closed, "", s.to)
		case devices:
			add(cell.Empty, "", s.to)
			for _, d := range present(devicesKept) {
				add(cell.Node, d, d)
			}
			add(cell.Empty, "", "/dev/shm")
			add(cell.FS, "devpts", "/dev/pts")
			for _, l := range [][2]string{{"pts/ptmx", "ptmx"}, {"/proc/self/fd", "fd"}, {"fd/0", "stdin"}, {"fd/1", "stdout"}, {"fd/2", "stderr"}} {
				add(cell.Link, l[0], "/dev/"+l[1])
			}
		case processes:
			add(cell.FS, "proc", "/proc")
		}
	}
	return p
}

// separate gives c namespaces of its own. Each user and group that this process may map keeps its number; without root
// it may map only itself.
func (b *Box) separate(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	a := c.SysProcAttr
	a.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !b.view.net {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Geteuid() == 0 { // a user maps itself, after exec
		a.UidMappings, a.GidMappings = ids("/proc/self/uid_map"), ids("/proc/self/gid_map")
	}
	// Without root, capabilities are lost at the first exec unless they are ambient.
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
}

// ids maps each number of the map to itself.
func ids(file string) (all []syscall.SysProcIDMap) {
	text, err := os.ReadFile(file)
	if err == nil {
		for line := range strings.Lines(string(text)) {
			var at, host, n int
			if _, err := fmt.Sscan(line, &at, &host, &n); err == nil {
				all = append(all, syscall.SysProcIDMap{ContainerID: at, HostID: at, Size: n})
			}
		}
	}
	if len(all) == 0 {
		all = []syscall.SysProcIDMap{{Size: 1}}
	}
	return all
}

// sheetOf is a file in memory with that text, read from its beginning.
func sheetOf(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("write down the sandbox: %w", err)
	}
	f := os.NewFile(uintptr(fd), "sandbox")
	if _, err := f.WriteAt(text, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("write down the sandbox: %w", err), f.Close())
	}
	return f, nil
}
