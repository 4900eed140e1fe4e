package sandbox

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fantail/tools/sandbox/cell"
)

// Inside is a command that will start, or has started, in its box.
type Inside struct {
	box   *Box
	sheet *os.File // what the command's first process is told, and answers
}

// mostDeaf is how many sockets are kept from a command one by one, each by a mount; where there are more it makes none
// that reaches any.
const mostDeaf = 64

// Enclose makes c a command in the box; it changes how c starts. After c ended, or could not start, the
// caller calls End.
func (b *Box) Enclose(c *exec.Cmd) (*Inside, error) {
	deaf, may := b.sockets()
	filter, err := filterOf(may)
	if err != nil {
		return nil, err
	}
	in := &Inside{box: b}
	temporary := "/tmp"
	switch b.wall.Kind {
	case Bubblewrap:
		if in.sheet, err = sheetOf(filter); err != nil {
			return nil, err
		}
		fd := 3 + len(c.ExtraFiles)
		c.Args = append(append([]string{b.wall.bwrap}, b.bwrapArgs(deaf, os.Geteuid(), fd)...), command(c)...)
		c.Path = b.wall.bwrap
	case Namespaces, Landlock:
		plan := cell.Plan{Dir: b.dir, ABI: b.wall.abi, Rules: b.view.alone(), Filter: filter, Adopts: true}
		if b.wall.Kind == Namespaces {
			plan = b.plan(filter, deaf)
		} else {
			temporary = b.view.scratch
		}
		if in.sheet, err = sheetOf(plan.Encode()); err != nil {
			return nil, err
		}
		c.Args = append([]string{cell.Name, strconv.Itoa(3 + len(c.ExtraFiles))}, command(c)...)
		if c.Path, err = os.Executable(); err != nil { // /proc/self/exe is closed to who conceals itself
			return nil, errors.Join(fmt.Errorf("find this program: %w", err), in.sheet.Close())
		}
		if b.wall.Kind == Namespaces {
			b.separate(c)
		} else if c.SysProcAttr != nil && c.SysProcAttr.Pdeathsig != 0 {
			c.SysProcAttr.Pdeathsig = cell.Quit // nobody else ends what left its session
		}
	default:
		return nil, errors.New("there is no sandbox of the kind " + string(b.wall.Kind))
	}
	c.ExtraFiles = append(c.ExtraFiles, in.sheet)
	c.Env = b.view.environment(c.Env, temporary)
	return in, nil
}

// command is what c would have run.
func command(c *exec.Cmd) []string { return append([]string{c.Path}, c.Args[1:]...) }

// Start starts the command. The caller has locked itself to its thread. spent says that the thread is held to the box
// from now on too: it can be nothing but thrown away.
func (in *Inside) Start(c *exec.Cmd) (spent bool, err error) {
	// What this program was itself started with and left open, a command would have too: a directory's descriptor leads
	// out of any mounts. A kernel that can't do it all at once has no Landlock either.
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return false, fmt.Errorf("keep open files from the command: %w", err)
	}
	if b := in.box; b.wall.Kind == Bubblewrap && b.view.net && b.scoped() {
		spent = true
		if err := cell.Scope(); err != nil {
			return spent, err
		}
	}
	return spent, c.Start()
}

// Quit asks the command's first process, which has that number and was not waited for yet, to end the command and all
// that it left behind; false: who ends that process has done so.
func (in *Inside) Quit(pid int) bool {
	return in != nil && in.box.wall.Kind == Landlock && unix.Kill(pid, cell.Quit) == nil
}

// End says how the command's first process ended, as far as it tells.
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
	return r
}

// sockets are those that a command in the box may make, and those that it must not reach one by one. Names that are in
// no file system belong to the network, and the desktop listens at one: where nothing else keeps a command from those it
// makes no sockets of names.
func (b *Box) sockets() (deaf []string, may sockets) {
	mounts := b.wall.Kind != Landlock
	may = sockets{wide: b.view.wide, unix: mounts && (!b.view.net || b.scoped()), inet: mounts || b.view.net, own: mounts}
	if mounts {
		deaf = b.view.deaf(listening())
	}
	if len(deaf) > mostDeaf {
		deaf, may.unix = nil, false
	}
	return deaf, may
}

// Mark is the same for two boxes if a process that was started in the one is now where it would be if it were started in
// the other: they have the same paths, and the same files are at them. "": that can't be told.
func (b *Box) Mark() string {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	deaf, may := b.sockets()
	var m strings.Builder
	fmt.Fprintf(&m, "%s %+v %+v %s", b.wall.Kind, b.view, may, mounts)
	at := func(path string) {
		var st unix.Stat_t
		if path != "" && unix.Lstat(path, &st) == nil {
			fmt.Fprintf(&m, "%x:%x ", st.Dev, st.Ino)
		}
		fmt.Fprintf(&m, "%q\n", path)
	}
	at(b.dir)
	if b.wall.Kind == Landlock {
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

// scoped reports whether the kernel keeps the command from sockets that have names in no file system. Who becomes root
// by a program's bit, as some systems have their bubblewrap do, can't be held to that.
func (b *Box) scoped() bool {
	return b.wall.abi >= cell.Scopes && !(b.wall.Kind == Bubblewrap && b.wall.setuid)
}

// plan is what the first process in namespaces of its own makes.
func (b *Box) plan(filter []byte, deaf []string) cell.Plan {
	p := cell.Plan{Dir: b.dir, Loopback: !b.view.net, User: os.Geteuid(), Group: os.Getegid(), ABI: b.wall.abi, Rules: b.view.mounted(), Filter: filter}
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

// separate gives c namespaces of its own. Each user and group that this process may name keeps its number; who is not
// root may name only itself.
func (b *Box) separate(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	a := c.SysProcAttr
	a.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !b.view.net {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Geteuid() == 0 { // who is not names itself, once it is another program
		a.UidMappings, a.GidMappings = ids("/proc/self/uid_map"), ids("/proc/self/gid_map")
	}
	// Who is not root has them only until the first program begins, if they are not handed on.
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
