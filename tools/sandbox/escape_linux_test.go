package sandbox_test

import (
	"bufio"
	"crypto/sha256"
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
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

var kinds = []sandbox.Kind{sandbox.Bubblewrap, sandbox.Namespaces, sandbox.Landlock}

// escape is one attempt. What came of it is looked at outside: at the files, who was reached, who lives. Only where
// nothing of that can tell, the attempt's own word counts.
type escape struct {
	name   string
	how    string // a shell's; "": the escaper's of that name
	word   bool   // its own word counts: what it reached can't be seen outside
	seen   bool   // of what is protected in the workspace: where the wall detects, the change is on the list of what is looked at
	unheld bool   // no wall prevents it: nothing can be mounted at a link, or at what is not there
	limit  string // why the Landlock wall lets it through; "": it does not
}

const attributes = "Landlock knows no right for attributes"

// attempts are all of them.
func attempts() (all []escape) {
	add := func(e escape, names ...string) {
		for _, n := range names {
			e.name = n
			all = append(all, e)
		}
	}
	shell := func(name, how string) { all = append(all, escape{name: name, how: how}) }
	kept := func(name, how string) { all = append(all, escape{name: name, how: how, seen: true}) }

	// Files outside.
	shell("echo", `echo x >>"$FE_HOME/outside/file"`)
	shell("echo-relative", `echo x >>../outside/file`)
	shell("echo-symlink", `ln -s "$FE_HOME/outside/file" l; echo x >>l`)
	shell("echo-symlink-directory", `ln -s ../outside d; echo x >d/new`)
	shell("copy", `cp /bin/true "$FE_HOME/outside/script"`)
	shell("profile", `echo 'touch /tmp/x' >>"$FE_HOME/.bashrc"`)
	shell("autostart", `mkdir -p "$FE_HOME/.config/autostart"`)
	shell("git-clone", `git clone -q . "$FE_HOME/outside/clone"`)
	shell("tar", `echo x >f; tar cf t.tar f; tar xf t.tar -C "$FE_HOME/outside"`)
	shell("tar-absolute", `tar cPf t.tar --transform "s|.*|$FE_HOME/outside/tarred|" app.txt; tar xPf t.tar`)
	shell("sed", `sed -i s/a/b/ "$FE_HOME/outside/file"`)
	shell("remove", `rm -rf "$FE_HOME/outside"`)
	shell("crontab", `echo '* * * * * true' >"$FE_HOME/outside/cron"`)
	add(escape{}, "write", "openat2", "creat", "reopen", "reopen-path", "self-root", "self-cwd", "init-root", "init-cwd", "parent-root", "parent-cwd",
		"truncate", "fd-write", "fd-up", "tmpfile-in", "tmpfile", "mmap", "mmap-protect", "rename-out", "rename-in", "rename-over", "exchange",
		"rename-home", "link-in", "link-out", "symlink-out", "mkdir", "rmdir", "unlink", "mkfifo", "bind-name", "setxattr", "fsetxattr", "setxattrat",
		"removexattr", "race-outside", "race-mkdir")
	add(escape{limit: attributes}, "chmod", "fchmod", "fchmodat2", "chown", "utimes", "futimes")
	add(escape{word: true}, "flags")

	// What is protected in the workspace.
	kept("hook", `echo x >.git/hooks/pre-commit`)
	kept("hook-new", `echo x >.git/hooks/post-checkout`)
	kept("config", `echo x >>.git/config`)
	kept("config-over", `echo x >c; mv -f c .git/config`)
	kept("config-remove", `rm -f .git/config`)
	kept("config-git", `git config core.hooksPath /tmp/evil`)
	kept("config-file", `git config --file .git/config core.fsmonitor /tmp/evil`)
	kept("git-away", `mv .git .git.old; cp -r .git.old .git; echo x >.git/hooks/post-merge`)
	kept("git-remove", `rm -rf .git`)
	kept("git-template", `mkdir -p t/hooks; echo x >t/hooks/post-rewrite; git init -q --template="$PWD/t"`)
	kept("hooks-away", `mv .git/hooks h; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit`)
	kept("hooks-remove", `rm -rf .git/hooks`)
	kept("module-config", `echo x >>.git/modules/sub/config`)
	kept("envrc", `echo x >>.envrc`)
	kept("tasks", `echo x >.vscode/tasks.json`)
	kept("tasks-away", `mv .vscode v; mkdir -p .vscode; echo x >.vscode/tasks.json`)
	kept("instructions", `echo obey >>AGENTS.md`)
	kept("instructions-link", `ln -s AGENTS.md a; echo obey >>a`)
	kept("touch", `touch -d 2001-01-01 .git/config`)
	all = append(all, escape{name: "kept-symlink", how: `rm CLAUDE.md && echo obey >CLAUDE.md`, seen: true, unheld: true})
	all = append(all, escape{name: "kept-absent", how: `echo obey >.mise.toml`, seen: true, unheld: true})
	add(escape{seen: true}, "race-hooks", "race-rename", "kept-exchange", "kept-parent", "kept-tmpfile", "kept-link", "kept-self-root", "kept-reopen", "kept-truncate", "kept-chmod")

	// What is hidden.
	shell("cat-key", `cat "$FE_HOME"/.ssh/*`)
	shell("grep-home", `grep -r . "$FE_HOME" 2>/dev/null`)
	shell("tar-home", `tar cf - "$FE_HOME" 2>/dev/null`)
	shell("netrc", `cat ~/.netrc "$FE_HOME/.netrc"`)
	shell("parents", `cat ../.ssh/id_ed25519 ../.local/share/fantail/db`)
	shell("process-links", `cat /proc/[0-9]*/root"$FE_HOME"/.ssh/id_ed25519 /proc/[0-9]*/cwd/../.ssh/id_ed25519 2>/dev/null`)
	shell("process-environs", `cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep FE_KEY`)
	shell("environment", `env`)
	add(escape{}, "read-key", "read-private", "read-self-root", "read-init-root", "read-parent-root", "read-victim-cwd", "read-link", "read-symlink",
		"read-rename", "read-fd", "read-fds", "read-handle", "read-shared", "read-shm", "victim-fds", "process-fds", "environ")
	add(escape{word: true}, "read-init-fds", "read-disk", "read-shadow")

	// Mounts and namespaces.
	add(escape{}, "bind-mount", "handle")
	add(escape{word: true}, "remount", "unmount-keep", "unmount-hide", "unshare-user", "unshare-mount", "unshare-net", "setns-mnt", "setns-net", "setns-user",
		"setns-pid", "setns-pidfd", "pivot-root", "chroot", "fsopen", "fspick", "open-tree", "open-tree-attr", "move-mount", "mount-setattr", "io-uring",
		"clone-user", "clone-net", "clone3")

	// Sockets.
	shell("bash-tcp", `echo x >/dev/tcp/127.0.0.1/$FE_PORT`)
	shell("bash-udp", `echo x >/dev/udp/127.0.0.1/$FE_PORT`)
	shell("curl", `curl -s -m 2 http://127.0.0.1:$FE_PORT/`)
	add(escape{}, "tcp4", "tcp6", "mptcp", "fastopen", "udp4", "abstract", "pair", "pair-raw", "datagram", "unix-outside", "unix-workspace", "unix-relative",
		"unix-renamed", "unix-alias", "unix-docker", "unix-agent", "unix-private", "unix-long")
	add(escape{word: true}, "raw", "packet", "vsock", "alg", "bluetooth", "xdp", "uevent", "audit", "generic", "diag", "netfilter", "families")

	// Processes.
	shell("kill-shell", `kill $FE_VICTIM`)
	shell("leave-behind", `(setsid bash -c "exec -a $FE_KEY-left sleep 60" >/dev/null 2>&1 &) ; sleep 0.1`)
	all[len(all)-1].limit = "a process that leaves its group is nobody's"
	add(escape{}, "kill", "kill-tgkill", "kill-sigqueue", "kill-pidfd", "kill-sigio", "kill-all", "pts-write", "pts-type")
	add(escape{word: true}, "ptrace", "ptrace-seize", "vm-read", "vm-write", "mem", "mem-parent", "kill-parent", "pidfd-getfd", "prlimit", "kcmp",
		"type-own", "type-high", "console")

	// The kernel and the machine.
	all = append(all, escape{name: "unshare-program", how: `unshare -Urm true && echo ` + done, word: true})
	shell("su", `su -c id root </dev/null; sudo -n id`)
	add(escape{word: true}, "keyctl", "add-key", "request-key", "userfaultfd", "perf", "bpf", "fanotify", "syslog", "module", "hostname", "swapoff", "quota",
		"capset", "ambient", "setuid", "setgroups", "x32", "int80", "io-port", "core-pattern", "sysrq", "sys", "kcore", "dev-mem", "kmsg", "kmsg-read",
		"disk-write", "terminals", "devices", "cgroup", "cgroup-join", "node", "node-char", "setuid-file")
	all = append(all, escape{name: "setuid-program", how: `"$FE_SUID" -p -c 'test $EUID = 0' && test $UID != 0 && echo ` + done, word: true})
	return all
}

// stage is a home directory with a workspace in it, and what an escape is after around them.
type stage struct {
	t       *testing.T
	base    string
	home    string
	root    string
	key     string // what must not be told
	ground  sandbox.Ground
	kept    []string
	env     []string
	victim  *exec.Cmd
	gone    chan struct{} // closed once the victim ended
	mu      sync.Mutex
	touched []string // who was reached
	ends    []func()
}

// later has f run at the stage's end.
func (s *stage) later(f func()) { s.ends = append(s.ends, f) }

// end ends what the stage began: each of its sockets is one more that other sandboxes have to hide.
func (s *stage) end() {
	for _, f := range slices.Backward(s.ends) {
		f()
	}
	s.ends = nil
}

// place is a directory that no sandbox puts its scratch directory over, if there is one that can be written.
func place(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("FE_PLACE"); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	for _, at := range []string{"/var/lib", "/srv", home, ""} {
		if dir, err := os.MkdirTemp(at, "fantail-escape-"); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	t.Fatal("there is no place for a stage")
	return ""
}

func newStage(t *testing.T, place string) *stage {
	t.Helper()
	base, err := os.MkdirTemp(place, "stage-")
	must(t, err)
	s := &stage{t: t, base: base, home: filepath.Join(base, "home"), root: filepath.Join(base, "home/project"), key: "KEY-" + filepath.Base(base)}
	must(t, os.Chmod(base, 0o755))
	for path, text := range map[string]string{
		"outside/file": "a\n", "outside/dir/f": "f\n", "outside/script": "#!/bin/sh\n", "notes": "n\n", ".bashrc": "# rc\n", "outside/empty/": "",
		".ssh/id_ed25519": s.key, ".netrc": s.key, ".local/share/fantail/db": s.key, ".docker/run/": "", "scratch/": "",
		"project/app.txt": "app\n", "project/.envrc": "# e\n", "project/.vscode/tasks.json": "{}\n", "project/AGENTS.md": "be good\n",
		"project/.git/HEAD": "ref: refs/heads/main\n", "project/.git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		"project/.git/hooks/pre-commit": "#!/bin/sh\n", "project/.git/info/exclude": "", "project/.git/objects/info/": "", "project/.git/refs/heads/": "",
		"project/.git/modules/sub/HEAD": "ref: refs/heads/main\n", "project/.git/modules/sub/config": "[core]\n",
	} {
		at := filepath.Join(s.home, path)
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		if strings.HasSuffix(path, "/") {
			must(t, os.MkdirAll(at, 0o755))
			continue
		}
		must(t, os.WriteFile(at, []byte(text), 0o644))
	}
	must(t, os.Symlink("AGENTS.md", filepath.Join(s.root, "CLAUDE.md")))
	_ = unix.Setxattr(filepath.Join(s.home, "outside/file"), "user.mark", []byte("x"), 0)
	for _, d := range []string{".ssh", ".local/share/fantail"} {
		must(t, os.Chmod(filepath.Join(s.home, d), 0o700))
	}
	exe, err := os.Executable()
	must(t, err)
	private := filepath.Join(s.home, ".local/share/fantail")
	s.ground = sandbox.Ground{
		Root: s.root, Home: s.home, Scratch: filepath.Join(s.home, "scratch"), Private: []string{private}, Shown: []string{exe},
		Secret: func(path string) string {
			if strings.HasPrefix(path, ".ssh") || path == ".netrc" {
				return "keys"
			}
			return ""
		},
	}
	s.kept = s.ground.Kept() // before anybody changes what they are found by
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "FE_HOME=" + s.home, "FE_ROOT=" + s.root, "FE_PARENT=" + strconv.Itoa(os.Getpid()), "FE_KEY=KEY" + "-" + "hunt",
		"FE_SUID=" + filepath.Join(filepath.Dir(base), "suid"), "FE_EXE=" + exe,
	}
	t.Cleanup(s.end)
	s.listen()
	s.leaveOpen()
	s.share()
	s.terminal()
	s.hunted(exe, private)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stage) touch(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touched = append(s.touched, who)
}

// listen listens at every kind of name that a command must not reach.
func (s *stage) listen() {
	at := func(rel string) string { return filepath.Join(s.home, rel) }
	accept := func(who string, l net.Listener, err error) {
		must(s.t, err)
		s.later(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if errors.Is(err, net.ErrClosed) {
					return
				} else if err == nil {
					s.touch(who)
					_ = c.Close()
				}
			}
		}()
	}
	hear := func(who string, c net.PacketConn, err error) {
		must(s.t, err)
		s.later(func() { _ = c.Close() })
		go func() {
			for b := make([]byte, 100); ; {
				_, _, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				s.touch(who)
			}
		}()
	}
	unixAt := func(path string) net.Listener {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		must(s.t, err)
		l.SetUnlinkOnClose(false)
		accept(path, l, nil)
		return l
	}
	for _, p := range []string{"outside/app.sock", "project/app.sock", ".docker/run/docker.sock", ".ssh/agent.sock", ".local/share/fantail/host.sock"} {
		unixAt(at(p))
	}
	unixAt(at("outside/first.sock"))
	must(s.t, os.Rename(at("outside/first.sock"), at("outside/renamed.sock")))
	unixAt(at("outside/second.sock"))
	must(s.t, os.Link(at("outside/second.sock"), at("outside/alias.sock")))
	abstract := "fantail-" + filepath.Base(s.base)
	l, err := net.Listen("unix", "@"+abstract)
	accept("abstract", l, err)
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	accept("tcp4", tcp, err)
	port := tcp.Addr().(*net.TCPAddr).Port
	if six, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", port)); err == nil {
		accept("tcp6", six, nil)
	}
	udp, err := net.ListenPacket("udp4", fmt.Sprintf("127.0.0.1:%d", port))
	hear("udp4", udp, err)
	log, err := net.ListenPacket("unixgram", at("outside/log.sock"))
	hear("log.sock", log, err)
	s.env = append(s.env, "FE_ABSTRACT="+abstract, "FE_PORT="+strconv.Itoa(port))
}

// leaveOpen leaves descriptors open as whoever started the program may have.
func (s *stage) leaveOpen() {
	for name, path := range map[string]string{"FE_FD": "outside", "FE_SECRET_FD": ".ssh/id_ed25519"} {
		fd, err := unix.Open(filepath.Join(s.home, path), unix.O_RDONLY, 0) // without O_CLOEXEC
		must(s.t, err)
		high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 200) // where no file of the command comes to stand
		must(s.t, err)
		must(s.t, unix.Close(fd))
		s.later(func() { _ = unix.Close(high) })
		s.env = append(s.env, name+"="+strconv.Itoa(high))
	}
}

// share puts the secret where programs of one user share memory.
func (s *stage) share() {
	path := "/dev/shm/" + filepath.Base(s.base)
	if os.WriteFile(path, []byte(s.key), 0o600) == nil {
		s.later(func() { _ = os.Remove(path) })
	}
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	must(s.t, err)
	s.later(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	b, err := unix.SysvShmAttach(id, 0, 0)
	must(s.t, err)
	copy(b, s.key)
	must(s.t, unix.SysvShmDetach(b))
	s.env = append(s.env, "FE_SHARED="+path, "FE_SHM="+strconv.Itoa(id))
}

// terminal opens a terminal that is somebody else's.
func (s *stage) terminal() {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must(s.t, err)
	s.later(func() { _ = master.Close() })
	raw, err := master.SyscallConn()
	must(s.t, err)
	n := 0
	must(s.t, raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}))
	must(s.t, err)
	pts := "/dev/pts/" + strconv.Itoa(n)
	slave, err := os.OpenFile(pts, os.O_RDWR|syscall.O_NOCTTY, 0)
	must(s.t, err)
	s.later(func() { _ = slave.Close() })
	go func() {
		for b := make([]byte, 100); ; {
			if n, err := master.Read(b); err != nil {
				return
			} else if n > 0 {
				s.touch("terminal")
			}
		}
	}()
	s.env = append(s.env, "FE_PTS="+pts)
}

// hunted starts the victim.
func (s *stage) hunted(exe, private string) {
	c := exec.Command(exe, escaper, "serve", filepath.Join(private, "db"), "relative.sock")
	c.Dir, c.Env = s.root, []string{"FE_KEY=" + s.key}
	in, err := c.StdinPipe()
	must(s.t, err)
	out, err := c.StdoutPipe()
	must(s.t, err)
	must(s.t, c.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		s.t.Fatal("the victim did not start")
	}
	s.victim, s.gone = c, make(chan struct{})
	go func() {
		for lines.Scan() {
			s.touch("victim's socket")
		}
		close(s.gone)
	}()
	s.later(func() {
		_ = c.Process.Kill() // one that was traced stands still
		<-s.gone
		_ = in.Close()
		_ = c.Wait()
	})
	s.env = append(s.env, "FE_VICTIM="+strconv.Itoa(c.Process.Pid))
}

// look is what stands outside and what is protected: each path with all that can be told of it.
func (s *stage) look() map[string]string {
	seen := map[string]string{}
	_ = filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(s.home, path)
		inside := rel == "project" || strings.HasPrefix(rel, "project/")
		if inside && !slices.ContainsFunc(s.kept, func(k string) bool { return path == k || strings.HasPrefix(path, k+"/") }) {
			return nil
		}
		if rel == "scratch" {
			return filepath.SkipDir
		}
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil {
			return nil
		}
		what := fmt.Sprintf("%o %d:%d", st.Mode, st.Uid, st.Gid)
		if !d.IsDir() || !inside {
			what += fmt.Sprintf(" %d", st.Mtim.Nano())
		}
		if !d.IsDir() && rel != "outside" {
			what += fmt.Sprintf(" links %d", st.Nlink)
		}
		if d.Type().IsRegular() {
			b, _ := os.ReadFile(path)
			what += fmt.Sprintf(" %x", sha256.Sum256(b))
			list := make([]byte, 1000)
			if n, err := unix.Listxattr(path, list); err == nil {
				what += fmt.Sprintf(" %q", list[:n])
			}
		} else if d.Type()&fs.ModeSymlink != 0 {
			to, _ := os.Readlink(path)
			what += to
		}
		seen[rel] = what
		return nil
	})
	return seen
}

// changes are the paths that two looks tell apart.
func changes(was, is map[string]string) (all []string) {
	for p, w := range was {
		if is[p] != w {
			all = append(all, p)
		}
	}
	for p := range is {
		if _, there := was[p]; !there {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// run carries an attempt out, in the box or without one, and returns what came of it: nothing, if it was prevented.
func (s *stage) run(e escape, w *sandbox.Wall, before map[string]string) (effects []string, said string) {
	s.t.Helper()
	spec := proc.Spec{Shell: e.how, Dir: s.root, Env: s.env, Head: 1 << 16, Tail: 1 << 16, Timeout: 30 * time.Second}
	if e.how == "" {
		spec.Shell = fmt.Sprintf("exec '%s' %s %s", s.ground.Shown[0], escaper, e.name)
	}
	if e.name == "environment" {
		for _, n := range leading {
			spec.Env = append(slices.Clone(spec.Env), n+"="+s.key)
		}
	}
	if e.name == "leave-behind" {
		spec.Shell = strings.ReplaceAll(spec.Shell, "$FE_KEY", s.key)
	}
	if w != nil {
		var err error
		spec.Box, err = w.Box(s.ground, sandbox.Command, sandbox.Leave{}, s.root)
		must(s.t, err)
	}
	r, err := proc.Run(s.t.Context(), spec)
	must(s.t, err)
	if strings.Contains(r.Text, s.key) {
		effects = append(effects, "told the key")
	}
	if e.word && strings.Contains(r.Text, done) {
		effects = append(effects, "by its own word")
	}
	if e.name == "leave-behind" {
		effects = append(effects, s.left()...)
	}
	effects = append(effects, changes(before, s.look())...)
	s.mu.Lock()
	for _, who := range s.touched {
		effects = append(effects, "reached "+who)
	}
	s.touched = nil
	s.mu.Unlock()
	if strings.HasPrefix(e.name, "kill") && s.dead() {
		effects = append(effects, "killed the victim")
	}
	return effects, r.Text
}

// leading are variables that lead to somebody who acts for the user.
var leading = []string{
	"TMUX", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "DOCKER_HOST",
	"GPG_AGENT_INFO", "XAUTHORITY", "STY", "ZELLIJ", "KITTY_LISTEN_ON", "NVIM", "NVIM_LISTEN_ADDRESS", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE",
	"WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET", "SWAYSOCK", "I3SOCK", "CONTAINER_HOST", "SSH_ASKPASS", "GIT_ASKPASS", "KRB5CCNAME", "WSL_INTEROP",
}

// dead reports whether the victim ended, or is about to.
func (s *stage) dead() bool {
	p, there := proc.Look(s.victim.Process.Pid)
	return !there || p.Ended()
}

// left ends what an attempt left running, and says so.
func (s *stage) left() (all []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range list {
		if b, _ := os.ReadFile(f); strings.HasPrefix(string(b), s.key+"-left\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			_ = syscall.Kill(pid, syscall.SIGKILL)
			all = append(all, "still runs")
		}
	}
	return all
}

// isKept reports whether all that changed is on the list of what is looked at after a command.
func (s *stage) isKept(effects []string) bool {
	for _, e := range effects {
		if !slices.ContainsFunc(s.kept, func(k string) bool {
			p := filepath.Join(s.home, e)
			return p == k || strings.HasPrefix(p, k+"/")
		}) {
			return false
		}
	}
	return true
}

func TestEscapes(t *testing.T) {
	if raced && os.Getuid() == 0 && os.Getenv(everything) == "" {
		t.Skip("root has it tried as a user; " + everything + "=1 does it as root, too")
	}
	at := place(t)
	all := attempts()
	if len(all) < 80 {
		t.Fatalf("%d attempts", len(all))
	}
	for _, k := range tried() {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			w := sandbox.Find(t.Context(), k)
			if w.Level() == sandbox.None {
				t.Skip(w.Why())
			}
			s := newStage(t, at)
			before := s.look()
			through := map[string]int{}
			for _, e := range all {
				effects, said := s.run(e, w, before)
				if len(effects) == 0 {
					through["prevented"]++
					continue
				}
				switch {
				case e.seen && (e.unheld || w.Level() == sandbox.Detects) && s.isKept(effects):
					through["detected"]++
				case e.limit != "" && k == sandbox.Landlock:
					through["known"]++
				default:
					t.Errorf("%s: %v: %.200q", e.name, effects, said)
				}
				s.end()
				s = newStage(t, at)
				before = s.look()
			}
			t.Logf("%d attempts as %d: %v", len(all), os.Getuid(), through)
		})
	}
}

// TestEscapesAreReal carries the attempts out without a sandbox: they are worth something only if they succeed there.
func TestEscapesAreReal(t *testing.T) {
	t.Parallel()
	at := place(t)
	all := attempts()
	real := map[string]bool{}
	for _, e := range all {
		s := newStage(t, at)
		effects, said := s.run(e, nil, s.look())
		s.end()
		if real[e.name] = len(effects) > 0; !real[e.name] {
			t.Logf("%s: %.100q", e.name, said)
		}
	}
	n := 0
	for _, yes := range real {
		if yes {
			n++
		}
	}
	t.Logf("%d of %d attempts succeed as %d without a sandbox", n, len(all), os.Getuid())
	if n < len(all)*6/10 {
		t.Errorf("only %d of %d attempts succeed without a sandbox", n, len(all))
	}
}

// TestEscapesAsUser is all of it again as somebody who is not root.
func TestEscapesAsUser(t *testing.T) {
	asUser(t, "^TestEscapes$", os.Getenv("PATH"))
}

// everything has all tests run in all sandboxes, also as root; else root, who has the escapes tried as somebody else too,
// tries one sandbox, and under the race detector, where each attempt takes long, none.
const everything = "FANTAIL_TEST_SANDBOX"

// tried are the kinds of sandboxes that are tried.
func tried() []sandbox.Kind {
	if os.Getuid() == 0 && os.Getenv(everything) == "" {
		return []sandbox.Kind{sandbox.Namespaces}
	}
	return kinds
}

// asUser runs tests of this program again as somebody who is not root.
func asUser(t *testing.T, tests, path string, env ...string) {
	if os.Getuid() != 0 {
		t.Skip("it is so already")
	}
	const uid = 12345
	at := place(t)
	exe, err := os.Executable()
	must(t, err)
	for from, to := range map[string]string{exe: "program", "/bin/bash": "suid"} {
		b, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(at, to), b, 0o755))
	}
	must(t, os.Chmod(filepath.Join(at, "suid"), 0o4755))
	home := filepath.Join(at, "user")
	must(t, os.MkdirAll(home, 0o755))
	must(t, os.Chown(home, uid, uid))
	must(t, os.Chown(at, uid, uid))
	c := exec.CommandContext(t.Context(), filepath.Join(at, "program"), "-test.run", tests, "-test.v")
	c.Dir = home
	c.Env = []string{"PATH=" + path, "HOME=" + home, "FE_PLACE=" + at, "TMPDIR=/tmp", "FANTAIL_TEST_EVERYDAY=" + os.Getenv("FANTAIL_TEST_EVERYDAY"), everything + "=" + os.Getenv(everything)}
	c.Env = append(c.Env, env...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, " as ") || strings.Contains(line, "exit code") || strings.Contains(line, "_test.go") && t.Failed() || strings.Contains(line, "FAIL") || strings.Contains(line, "panic") {
			t.Log(strings.TrimRight(line, "\n"))
		}
	}
}
