package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fantail/tools/sandbox/cell"
)

// tries bounds how long the probe of one sandbox may take.
const tries = 10 * time.Second

// bubblewraps are the paths to look for bubblewrap: never on PATH, which a repository may have changed.
var bubblewraps = []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

// Find tries what this machine enforces, the best first, and returns the first sandbox that works. among are the kinds
// to try; none: all. Each try really starts a process in a sandbox and lets it do what it must not.
func Find(ctx context.Context, among ...Kind) *Backend {
	found := &Backend{}
	for _, w := range []*Backend{{Kind: Bubblewrap}, {Kind: Namespaces}, {Kind: Landlock}} {
		if len(among) > 0 && !slices.Contains(among, w.Kind) {
			continue
		}
		facts, err := w.try(ctx)
		if ctx.Err() != nil {
			return &Backend{Faults: []string{context.Cause(ctx).Error()}}
		}
		if err == nil {
			w.Facts, w.Faults = facts, found.Faults
			return w
		}
		found.Faults = append(found.Faults, fmt.Sprintf("%s: %v", w.Kind, err))
	}
	return found
}

// equip finds what the sandbox needs of this machine.
func (w *Backend) equip() (err error) {
	w.abi = cell.ABI()
	switch w.Kind {
	case Bubblewrap:
		w.bwrap, w.setuid, err = trusted(bubblewraps)
	case Namespaces, Landlock:
		if w.abi == 0 {
			err = errors.New("the kernel has no Landlock, or it is switched off")
		}
	}
	return err
}

// try finds out whether the sandbox works here, and what it enforces.
func (w *Backend) try(ctx context.Context) (facts []string, err error) {
	if err := w.equip(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, tries)
	defer cancel()
	p, err := newProbe()
	if err != nil {
		return nil, fmt.Errorf("prepare a try: %w", err)
	}
	defer p.close()
	said, err := p.run(ctx, w)
	if err != nil {
		return nil, err
	}
	return p.judge(w, said)
}

// trusted returns the first of the files that exists. It is an error if a user other than root could change it. setuid
// says that it runs as root.
func trusted(paths []string) (path string, setuid bool, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 || info.Mode().Perm()&0o022 != 0 {
			return "", false, fmt.Errorf("%s could be changed by somebody else than root", p)
		}
		return p, info.Mode()&os.ModeSetuid != 0, nil
	}
	return "", false, fmt.Errorf("it is not installed (%s)", paths[0])
}

// content is that of the files a command must not touch.
const content = "secret"

// probe is a small workspace with things around it that a command must not touch.
type probe struct {
	base   string
	ground Workspace
	pipe   net.Listener // a socket in the file system
	port   net.Listener
}

func newProbe() (*probe, error) {
	base, err := os.MkdirTemp("", "fantail-wall-")
	if err != nil {
		return nil, err
	}
	p := &probe{base: base}
	for _, d := range []string{"work/.git/hooks", "private", "scratch", "home"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o700); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	for _, f := range []string{"private/secret", "outside"} {
		if err := os.WriteFile(filepath.Join(base, f), []byte(content), 0o600); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	if p.pipe, err = net.Listen("unix", filepath.Join(base, "work/socket")); err == nil {
		p.port, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	exe, e := os.Executable()
	if err = errors.Join(err, e); err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.ground = Workspace{
		Root: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), Scratch: filepath.Join(base, "scratch"),
		Private: []string{filepath.Join(base, "private")}, Shown: []string{exe},
		Kept: func() []string { return []string{filepath.Join(base, "work/.git/hooks")} },
	}
	return p, nil
}

func (p *probe) close() error {
	if p.pipe != nil {
		_ = p.pipe.Close()
	}
	if p.port != nil {
		_ = p.port.Close()
	}
	return os.RemoveAll(p.base)
}

// attempt is something that a process in a sandbox tries, and the expected outcome.
type attempt struct {
	name, where string
	works       bool   // it must succeed; else it must fail
	fact        string // what the outcome shows, for people
}

// attempts are those for a sandbox.
func (p *probe) attempts(w *Backend) []attempt {
	at := func(rel string) string { return filepath.Join(p.base, rel) }
	self := strconv.Itoa(os.Getpid())
	number := func(n uintptr) string { return strconv.Itoa(int(n)) }
	all := []attempt{
		{"write-own", at("work/own"), true, "a command writes the workspace"},
		{"write-temporary", "", true, "it has a temporary directory of its own"},
		{"write", at("outside"), false, "it writes nothing outside"},
		{"read", at("private/secret"), false, "it reads nothing that is private"},
		{"connect", at("work/socket"), false, "it reaches no socket that somebody else listens at"},
		{"tcp", strconv.Itoa(p.port.Addr().(*net.TCPAddr).Port), false, "it reaches no network"},
		{"trace", self, false, "it looks into no other process"},
		{"call-ring", number(unix.SYS_IO_URING_SETUP), false, ""},
		{"call-space", number(unix.SYS_UNSHARE), false, "it makes no namespaces, mounts or rings"},
		{"call-mount", number(unix.SYS_MOUNT), false, ""},
		{"call-keys", number(unix.SYS_KEYCTL), false, ""},
	}
	if w.Kind != Landlock || w.abi >= cell.Scopes {
		all = append(all, attempt{"signal", self, false, "it signals no other process"})
	}
	if w.Level() == Prevents {
		all = append(all,
			attempt{"write-kept", at("work/.git/hooks/post-checkout"), false, "it changes nothing that git or an editor runs by itself"},
			attempt{"loopback", "", true, "servers that it starts are reached from inside"})
	}
	return all
}

// run makes a process in a sandbox try them all, and returns what it reported for each.
func (p *probe) run(ctx context.Context, w *Backend) (map[string]string, error) {
	box, err := w.Box(p.ground, Command, Leave{}, p.ground.Root)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, p.ground.Shown[0], cell.Prober)
	for _, a := range p.attempts(w) {
		if a.name == "write-temporary" {
			if a.where = filepath.Join(p.ground.Scratch, "own"); w.Kind != Landlock {
				a.where = "/tmp/own"
			}
		}
		c.Args = append(c.Args, a.name+"="+a.where)
	}
	c.Dir, c.Env = p.ground.Root, []string{"PATH=/usr/bin:/bin"}
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	// If bubblewrap's outer process is killed as it starts, its inner one would wait for it for ever: so its whole
	// group is ended. Bubblewrap itself makes sure that it dies with this program.
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if w.Kind != Bubblewrap {
		c.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second // for its remaining processes to end
	in, err := box.Enclose(c)
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	Thread(func() bool {
		spent, err := in.Start(c)
		if err == nil {
			err = c.Wait()
		}
		done <- err
		return spent
	})
	err = <-done
	if r := in.End(); r.Fault != "" {
		return nil, errors.New(r.Fault)
	}
	var refused *fs.PathError
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("the kernel starts no process in it: %w", refused.Err)
	} else if err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(problems.Bytes()))
	}
	said := map[string]string{}
	for line := range strings.Lines(out.String()) {
		if name, what, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			said[name] = what
		}
	}
	return said, nil
}

// judge compares the reports with the expected outcomes.
func (p *probe) judge(w *Backend, said map[string]string) (facts []string, err error) {
	for _, a := range p.attempts(w) {
		what, tried := said[a.name]
		if a.name == "write" { // the command may see another file at that path
			if text, err := os.ReadFile(a.where); err == nil && string(text) == content {
				what = "it was done elsewhere"
			}
		}
		switch {
		case !tried:
			return nil, fmt.Errorf("the try ended before it came to %q", a.name)
		case a.works && what != "done":
			return nil, fmt.Errorf("%s does not work in it: %s", a.name, what)
		case !a.works && what == "done":
			return nil, fmt.Errorf("it does not hold: %s was done", a.name)
		case a.fact != "":
			facts = append(facts, a.fact)
		}
	}
	return facts, nil
}
