package sandbox_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
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

	"fantail/.ci/long"
	"fantail/tools/files"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

var kinds = []sandbox.Kind{sandbox.Bubblewrap, sandbox.Namespaces, sandbox.Landlock}

// holder is a profile with its grants: it makes the attempts.
type holder struct {
	name    string
	profile sandbox.Profile
	write   []string // granted, from the home directory
	net     bool     // granted
	seldom  bool     // its outcomes are nearly those of the others
}

var holders = []holder{
	{name: "command", profile: sandbox.Command},
	{name: "command with a network", profile: sandbox.Command, net: true},
	{name: "check", profile: sandbox.Check},
	{name: "server", profile: sandbox.Server, seldom: true},
	{name: "server with grants", profile: sandbox.Server, write: []string{"granted", "granted.txt"}, net: true},
	{name: "server with the workspace", profile: sandbox.Server, write: []string{"project"}, seldom: true},
	{name: "vendor", profile: sandbox.Vendor},
	{name: "observer", profile: sandbox.Observer},
}

// may is whether the holder is allowed what an attempt does, in a sandbox of that kind.
type may func(h holder, k sandbox.Kind) bool

func anybody(holder, sandbox.Kind) bool { return true }

func works(h holder, k sandbox.Kind) bool {
	return h.profile == sandbox.Command || vendor(h, k) || slices.Contains(h.write, "project")
}

func gits(h holder, k sandbox.Kind) bool { return h.profile == sandbox.Command || vendor(h, k) }

func caches(h holder, k sandbox.Kind) bool { return h.profile == sandbox.Check || gits(h, k) }

func networked(h holder, k sandbox.Kind) bool { return h.net || vendor(h, k) }

// serves reports whether it reaches a server of its own: it does in its own network, too.
func serves(h holder, k sandbox.Kind) bool { return k != sandbox.Landlock || networked(h, k) }

func granted(h holder, _ sandbox.Kind) bool { return slices.Contains(h.write, "granted") }

// bubblewrapped reports whether the command's parent is a process of bubblewrap's, which is confined in the same way.
func bubblewrapped(_ holder, k sandbox.Kind) bool { return k == sandbox.Bubblewrap }

func vendor(h holder, _ sandbox.Kind) bool { return h.profile == sandbox.Vendor }

// changes are the trees that the holder may change, by their paths from the home directory.
func (h holder) changes() (all []string) {
	all = slices.Clone(h.write)
	if gits(h, "") {
		all = append(all, "project", "common.git")
	}
	if caches(h, "") {
		all = append(all, ".cache/go-build")
	}
	return all
}

// escape is one attempt. Its outcome is looked up outside: in the files, in what was reached, in which processes live.
// The attempt's own report counts only where none of these can tell.
type escape struct {
	name   string
	how    string // a shell's; "": the escaper's of that name
	word   bool   // its own report counts: what it reached can't be seen outside
	seen   bool   // it changes protected files: a backend that detects lists the change
	unheld bool   // no backend prevents it: nothing can be mounted at a link, or at a missing path
	limit  string // why the Landlock wall lets it through; "": it does not
	does   may    // the holders for which it must work; nil: none
	may    may    // the holders that may, where the machine lets them; nil: none
	first  bool   // a representative of its kind
}

const attributes = "Landlock knows no right for attributes"

// attempts returns all attempts.
func attempts() (all []escape) {
	add := func(e escape, names ...string) {
		for _, n := range names {
			e.name = n
			all = append(all, e)
		}
	}
	shell := func(name, how string) { all = append(all, escape{name: name, how: how}) }
	kept := func(name, how string) { all = append(all, escape{name: name, how: how, seen: true}) }

	// Attempts that some holders are allowed.
	for name, how := range map[string]string{
		"own-write": `echo x >>app.txt`, "own-make": `mkdir -p made/deep && echo x >made/deep/f`, "own-rename": `mv app.txt moved.txt`, "own-remove": `rm -f app.txt`,
		"own-link": `ln app.txt hard && echo x >>hard`, "own-cache": `echo x >"$GOMODCACHE/x"`,
	} {
		all = append(all, escape{name: name, how: how, does: works})
	}
	all = append(all,
		escape{name: "own-chmod", how: `chmod 777 app.txt`, does: works, limit: attributes},
		escape{name: "own-read", how: `grep -q app app.txt && echo ` + done, word: true, does: anybody},
		escape{name: "own-commit", how: `git add app.txt && git -c user.name=a -c user.email=a@b commit -qm x`, does: works},
		escape{name: "git-write", how: `echo x >"$FE_HOME/common.git/refs/x"`, does: gits},
		escape{name: "git-read", how: `grep -q ref: "$FE_HOME/common.git/HEAD" && echo ` + done, word: true, does: anybody},
		escape{name: "git-config", how: `echo x >>"$FE_HOME/common.git/config"`, seen: true, first: true},
		escape{name: "cache", how: `echo x >"$GOCACHE/x"`, does: caches},
		escape{name: "temporary", how: `f=$(mktemp) && echo x >"$f" && test -s "$f" && echo ` + done, word: true, does: anybody},
		escape{name: "granted", how: `echo x >>"$FE_HOME/granted/file"`, does: granted},
		escape{name: "granted-file", how: `echo x >>"$FE_HOME/granted.txt"`, does: granted},
		escape{name: "granted-up", how: `echo x >>"$FE_HOME/granted/../outside/file"`, first: true},
		escape{name: "granted-link", how: `ln -s ../outside/file "$FE_HOME/granted/l"; echo x >>"$FE_HOME/granted/l"`, first: true},
		escape{name: "granted-beside", how: `echo x >"$FE_HOME/granted.new" && mv "$FE_HOME/granted.new" "$FE_HOME/granted.txt"`, first: true},
		escape{name: "own-server", word: true, does: serves})

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

	// Protected files in the workspace.
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

	// Hidden files.
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
	all = append(all,
		escape{name: "bash-tcp", how: `echo x >/dev/tcp/127.0.0.1/$FE_PORT`, does: networked},
		escape{name: "bash-udp", how: `echo x >/dev/udp/127.0.0.1/$FE_PORT`, does: networked},
		escape{name: "curl", how: `curl -s -m 2 http://127.0.0.1:$FE_PORT/`, may: networked})
	add(escape{does: networked}, "tcp4", "udp4")
	add(escape{may: networked}, "tcp6", "mptcp", "fastopen")
	add(escape{}, "abstract", "pair", "pair-raw", "datagram", "unix-outside", "unix-workspace", "unix-relative", "unix-renamed", "unix-alias", "unix-docker",
		"unix-agent", "unix-private", "unix-long")
	add(escape{word: true, may: vendor}, "raw", "packet", "vsock", "alg", "bluetooth", "xdp", "uevent", "audit", "generic", "diag", "netfilter", "families")

	// Processes.
	shell("kill-shell", `kill $FE_VICTIM`)
	shell("leave-behind", `(setsid bash -c "exec -a $FE_KEY-left sleep 60" >/dev/null 2>&1 &) ; sleep 0.1`)
	add(escape{}, "kill", "kill-tgkill", "kill-sigqueue", "kill-pidfd", "kill-sigio", "kill-all", "pts-write", "pts-type")
	add(escape{word: true}, "ptrace", "ptrace-seize", "vm-read", "vm-write", "mem", "mem-parent", "kill-parent", "pidfd-getfd", "prlimit", "kcmp",
		"type-own", "type-high", "console")

	add(escape{word: true, may: bubblewrapped}, "first-mem", "first-fds", "first-seize")

	// The kernel and the machine.
	all = append(all, escape{name: "unshare-program", how: `unshare -Urm true && echo ` + done, word: true})
	shell("su", `su -c id root </dev/null; sudo -n id`)
	add(escape{word: true}, "keyctl", "add-key", "request-key", "userfaultfd", "perf", "bpf", "fanotify", "syslog", "module", "hostname", "swapoff", "quota",
		"capset", "ambient", "setuid", "setgroups", "x32", "int80", "io-port", "core-pattern", "sysrq", "sys", "kcore", "dev-mem", "kmsg", "kmsg-read",
		"disk-write", "terminals", "devices", "cgroup", "cgroup-join", "node", "node-char", "setuid-file")
	all = append(all, escape{name: "setuid-program", how: `"$FE_SUID" -p -c 'test $EUID = 0' && test $UID != 0 && echo ` + done, word: true})
	for i := range all {
		all[i].first = all[i].first || all[i].does != nil || all[i].may != nil || slices.Contains(firsts, all[i].name)
	}
	for _, program := range []string{"git", "grep"} {
		if _, err := exec.LookPath(program); err != nil {
			all = slices.DeleteFunc(all, func(e escape) bool {
				return strings.HasPrefix(e.how, program+" ") || strings.Contains(e.how, "&& "+program+" ")
			})
		}
	}
	return all
}

// firsts are attempts that represent all of their kind.
var firsts = []string{
	"echo", "rename-over", "setxattr", "race-outside", "hook", "kept-absent", "kept-exchange", "cat-key", "read-private", "process-environs", "read-fd",
	"read-shm", "bind-mount", "handle", "unshare-user", "abstract", "pair", "unix-outside", "unix-private", "kill", "ptrace", "leave-behind", "prlimit",
}

// stage is a home directory with a workspace in it, and the targets of escapes around them.
type stage struct {
	t       *testing.T
	base    string
	home    string
	root    string
	key     string // a secret
	ground  sandbox.Workspace
	kept    []string
	env     []string
	seen    map[string]string // the last look
	victim  *exec.Cmd
	gone    chan struct{} // closed once the victim ended
	mu      sync.Mutex
	touched []string // victims that were reached
	news    chan struct{}
	ends    []func()
}

// later registers f to run at the stage's end.
func (s *stage) later(f func()) { s.ends = append(s.ends, f) }

// end ends the stage's processes and sockets: other sandboxes have to hide each of its sockets.
func (s *stage) end() {
	for _, f := range slices.Backward(s.ends) {
		f()
	}
	s.ends = nil
}

// place is a writable directory that no sandbox replaces by its scratch directory, if there is one.
func place(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("FE_PLACE"); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	for _, at := range []string{"/var/lib", "/srv", home, ""} {
		if dir, err := os.MkdirTemp(at, "fe-"); err == nil {
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
	base, err := os.MkdirTemp(place, "s-")
	must(t, err)
	s := &stage{t: t, base: base, home: filepath.Join(base, "home"), root: filepath.Join(base, "home/project"), key: "KEY-" + filepath.Base(base), news: make(chan struct{}, 1)}
	must(t, os.Chmod(base, 0o755))
	for path, text := range map[string]string{
		"outside/file": "a\n", "outside/dir/f": "f\n", "outside/script": "#!/bin/sh\n", "notes": "n\n", ".bashrc": "# rc\n", "outside/empty/": "",
		".ssh/id_ed25519": s.key, ".netrc": s.key, ".local/share/fantail/db": s.key, ".docker/run/": "", "scratch/": "",
		"granted/file": "g\n", "granted.txt": "g\n", ".cache/go-build/": "", "project/.modules/": "",
		"common.git/HEAD": "ref: refs/heads/main\n", "common.git/config": "[core]\n", "common.git/refs/": "",
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
	exe := program(t)
	private := filepath.Join(s.home, ".local/share/fantail")
	caches := []string{"GOCACHE=" + filepath.Join(s.home, ".cache/go-build"), "GOMODCACHE=" + filepath.Join(s.root, ".modules")}
	s.ground = sandbox.Workspace{
		Root: s.root, Git: []string{filepath.Join(s.home, "common.git")}, Home: s.home, Environ: caches, Scratch: filepath.Join(s.home, "scratch"), Private: []string{private}, Shown: []string{exe},
		Secret: func(path string) string {
			if strings.HasPrefix(path, ".ssh") || path == ".netrc" {
				return "keys"
			}
			return ""
		},
	}
	s.ground.Kept = func() []string { return files.Protected(s.root, s.ground.Git, s.home) }
	s.kept = s.ground.Kept() // before an attempt changes how they are found
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "FE_HOME=" + s.home, "FE_ROOT=" + s.root, "FE_PARENT=" + strconv.Itoa(os.Getpid()), "FE_KEY=KEY" + "-" + "hunt",
		"FE_SUID=" + filepath.Join(filepath.Dir(base), "suid"), "FE_EXE=" + exe,
	}
	s.env = append(s.env, caches...)
	t.Cleanup(s.end)
	s.listen()
	s.leaveOpen()
	s.share()
	s.terminal()
	s.hunted(exe, private)
	s.seen = s.look()
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
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// met returns the victims that were reached since the last call. A victim may not have noticed yet: if one is wanted,
// met waits.
func (s *stage) met(wanted bool) (all []string) {
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for {
		s.mu.Lock()
		for _, who := range s.touched {
			all = append(all, met+who)
		}
		s.touched = nil
		s.mu.Unlock()
		if !wanted || len(all) > 0 {
			return all
		}
		select {
		case <-s.news:
		case <-late.C:
			return nil
		}
	}
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

// leaveOpen leaves descriptors open, as the process that started the program may have.
func (s *stage) leaveOpen() {
	for name, path := range map[string]string{"FE_FD": "outside", "FE_SECRET_FD": ".ssh/id_ed25519"} {
		fd, err := unix.Open(filepath.Join(s.home, path), unix.O_RDONLY, 0) // without O_CLOEXEC
		must(s.t, err)
		high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 200) // a number that no file of the command gets
		must(s.t, err)
		must(s.t, unix.Close(fd))
		s.later(func() { _ = unix.Close(high) })
		s.env = append(s.env, name+"="+strconv.Itoa(high))
	}
}

// share puts the secret into memory that one user's programs share.
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

// terminal opens a terminal that belongs to another session.
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
		_ = c.Process.Kill() // a traced process is stopped
		<-s.gone
		_ = in.Close()
		_ = c.Wait()
	})
	s.env = append(s.env, "FE_VICTIM="+strconv.Itoa(c.Process.Pid))
}

// look returns the files in the home directory: each path with everything known about it.
func (s *stage) look() map[string]string {
	seen := map[string]string{}
	_ = filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(s.home, path)
		inside := under(rel, "project") || under(rel, "common.git")
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

// changes are the paths in which two looks differ.
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

// under reports whether path is tree or below it.
func under(path, tree string) bool { return path == tree || strings.HasPrefix(path, tree+"/") }

// foreign are the changes that the holder may not make.
func (s *stage) foreign(h holder, changes []string) []string {
	return slices.DeleteFunc(slices.Clone(changes), func(rel string) bool {
		return !s.isKept([]string{rel}) && slices.ContainsFunc(h.changes(), func(t string) bool { return under(rel, t) })
	})
}

// run makes an attempt, in the sandbox of the holder or without one. It returns the effects that the holder is not
// allowed, and whether there were any effects.
func (s *stage) run(e escape, w *sandbox.Backend, h holder) (effects []string, worked bool, said string) {
	s.t.Helper()
	spec := proc.Spec{Shell: e.how, Dir: s.root, Env: s.env, Head: 1 << 16, Tail: 1 << 16, Timeout: time.Minute}
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
		leave := sandbox.Leave{Network: h.net}
		for _, rel := range h.write {
			leave.Write = append(leave.Write, filepath.Join(s.home, rel))
		}
		spec.Box, err = w.Box(s.ground, h.profile, leave, s.root)
		must(s.t, err)
	}
	before := s.seen
	r, err := proc.Run(s.t.Context(), spec)
	must(s.t, err)
	if strings.Contains(r.Text, s.key) {
		effects = append(effects, "told the key")
	}
	if e.word && strings.Contains(r.Text, done) {
		effects = append(effects, ownWord)
	}
	if e.name == "leave-behind" {
		effects = append(effects, s.left()...)
	}
	s.seen = s.look()
	changed := changes(before, s.seen)
	effects = append(effects, s.foreign(h, changed)...)
	wanted := w != nil && e.is(e.does, h, w)
	effects = append(effects, s.met(wanted && len(changed) == 0 && len(effects) == 0)...)
	if strings.HasPrefix(e.name, "kill") && s.dead() {
		effects = append(effects, "killed the victim")
	}
	return effects, len(changed) > 0 || len(effects) > 0, r.Text
}

// leading are variables that lead to programs which act for the user.
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

// left ends processes that an attempt left running, and reports them.
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

// isKept reports whether every change is on the list of files that are checked after a command.
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
	seed := long.Seed(t)
	for i, k := range tried() {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			w := sandbox.Find(t.Context(), k)
			if w.Level() == sandbox.None {
				t.Skip(w.Why())
			}
			for _, h := range tested() {
				some := all
				switch firsts := slices.DeleteFunc(slices.Clone(all), func(e escape) bool { return !e.first }); {
				case os.Getenv(everything) != "":
				case h.name != "command":
					some = drawn(firsts, seed, 1, 12)
				case !long.Wanted():
					some = part(firsts, seed, i, len(kinds))
				}
				try(t, some, w, h, at)
			}
		})
	}
}

// drawn are few of the attempts, in their order, and many in a long run.
func drawn(all []escape, seed uint64, few, many int) []escape {
	return picked(all, rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:min(long.Times(few, many), len(all))])
}

// part is one of n parts of the attempts, in their order. All parts together are all attempts.
func part(all []escape, seed uint64, i, n int) []escape {
	var chosen []int
	for at, index := range rand.New(rand.NewPCG(seed, 1)).Perm(len(all)) {
		if at%n == i {
			chosen = append(chosen, index)
		}
	}
	return picked(all, chosen)
}

// picked are the attempts with these numbers, in their order.
func picked(all []escape, chosen []int) (some []escape) {
	slices.Sort(chosen)
	for _, i := range chosen {
		some = append(some, all[i])
	}
	return some
}

// try makes the attempts as the holder.
func try(t *testing.T, all []escape, w *sandbox.Backend, h holder, at string) {
	t.Helper()
	came := map[string]int{}
	s := newStage(t, at)
	for _, e := range all {
		effects, worked, said := s.run(e, w, h)
		what := s.verdict(e, w, h, effects, worked)
		came[what]++
		if what == escaped || what == broken {
			t.Errorf("%s, %s: %s: %v: %.200q", h.name, e.name, what, effects, said)
		}
		// A victim may not have noticed yet.
		if quiet := len(effects) == 1 && effects[0] == ownWord; what != prevented && !quiet || e.is(e.may, h, w) {
			s.end()
			s = newStage(t, at)
		}
	}
	s.end()
	t.Logf("%s: %d attempts as %d: %v", h.name, len(all), os.Getuid(), came)
}

// Effects that are not changes of files.
const (
	ownWord = "by its own word"
	met     = "reached "
)

// Outcomes of an attempt.
const (
	prevented = "prevented"
	detected  = "detected"
	known     = "known"
	allowed   = "allowed"
	escaped   = "came through"
	broken    = "does not work"
)

// alien reports whether an effect is never allowed.
func alien(effect string) bool { return effect != ownWord && !strings.HasPrefix(effect, met) }

// is reports whether the attempt is allowed for the holder, according to way.
func (e escape) is(way may, h holder, w *sandbox.Backend) bool { return way != nil && way(h, w.Kind) }

// tested are the holders to test.
func tested() []holder {
	switch {
	case os.Getenv(everything) != "":
		return holders
	case raced, os.Getuid() == 0:
		return holders[:1]
	}
	return slices.DeleteFunc(slices.Clone(holders), func(h holder) bool { return h.seldom })
}

// verdict returns the outcome of an attempt in the holder's sandbox.
func (s *stage) verdict(e escape, w *sandbox.Backend, h holder, effects []string, worked bool) string {
	does := e.is(e.does, h, w)
	switch {
	case does && !worked:
		return broken
	case worked && (does || e.is(e.may, h, w)) && !slices.ContainsFunc(effects, alien):
		return allowed
	case len(effects) == 0:
		return prevented
	case e.seen && (e.unheld || w.Level() == sandbox.Detects) && s.isKept(effects):
		return detected
	case e.limit != "" && w.Kind == sandbox.Landlock:
		return known
	}
	return escaped
}

// TestEscapesAreReal makes the attempts without a sandbox: they prove something only if they succeed there.
func TestEscapesAreReal(t *testing.T) {
	t.Parallel()
	all := slices.DeleteFunc(attempts(), func(e escape) bool { return e.name == broadcast })
	all = drawn(all, long.Seed(t), 15, 80)
	n := succeed(t, all)
	t.Logf("%d of %d attempts succeed as %d without a sandbox", n, len(all), os.Getuid())
	if n < len(all)*6/10 {
		t.Errorf("only %d of %d attempts succeed without a sandbox", n, len(all))
	}
}

// broadcast is the attempt that reaches every process: without a sandbox, also the victims of other tests.
const broadcast = "kill-all"

// TestEscapesAreReal_broadcast runs before the parallel tests.
func TestEscapesAreReal_broadcast(t *testing.T) {
	all := slices.DeleteFunc(attempts(), func(e escape) bool { return e.name != broadcast })
	if n := succeed(t, all); n != 1 || len(all) != 1 {
		t.Errorf("%d of %d attempts succeed without a sandbox", n, len(all))
	}
}

// succeed counts the attempts that succeed without a sandbox.
func succeed(t *testing.T, all []escape) (n int) {
	t.Helper()
	at := place(t)
	for _, e := range all {
		s := newStage(t, at)
		effects, worked, said := s.run(e, nil, holders[0])
		s.end()
		if len(effects) > 0 || worked && e.does != nil {
			n++
		} else {
			t.Logf("%s: %.100q", e.name, said)
		}
	}
	return n
}

// TestEscapesAsUser repeats them without root.
func TestEscapesAsUser(t *testing.T) {
	t.Parallel()
	if !long.Wanted() {
		t.Skip("root repeats the escapes as a user in a long run only")
	}
	asUser(t, "^TestEscapes$", os.Getenv("PATH"))
}

// everything has all tests run in all sandboxes for all holders, also as root. Without it root, which repeats the
// escapes as a user, tries one sandbox; with the race detector, which sees nothing of a child, none.
const everything = "FANTAIL_TEST_SANDBOX"

// tried are the kinds of sandboxes that are tried.
func tried() []sandbox.Kind {
	if os.Getuid() == 0 && os.Getenv(everything) == "" {
		return []sandbox.Kind{sandbox.Namespaces}
	}
	return kinds
}

// asUser runs tests of this program again without root.
func asUser(t *testing.T, tests, path string, env ...string) {
	if os.Getuid() != 0 {
		t.Skip("it is so already")
	}
	const uid = 12345
	at := place(t)
	for from, to := range map[string]string{program(t): "program", "/bin/bash": "suid"} {
		b, err := os.ReadFile(from)
		must(t, err)
		syscall.ForkLock.RLock() // a process that another test starts would hold it open: it could not be executed
		err = os.WriteFile(filepath.Join(at, to), b, 0o755)
		syscall.ForkLock.RUnlock()
		must(t, err)
	}
	must(t, os.Chmod(filepath.Join(at, "suid"), 0o4755))
	home := filepath.Join(at, "user")
	must(t, os.MkdirAll(home, 0o755))
	must(t, os.Chown(home, uid, uid))
	must(t, os.Chown(at, uid, uid))
	c := exec.CommandContext(t.Context(), filepath.Join(at, "program"), "-test.run", tests, "-test.v")
	c.Dir = home
	c.Env = []string{"PATH=" + path, "HOME=" + home, "FE_PLACE=" + at, "TMPDIR=/tmp", "FANTAIL_TEST_EVERYDAY=" + os.Getenv("FANTAIL_TEST_EVERYDAY"), everything + "=" + os.Getenv(everything)}
	for _, n := range []string{"FANTAIL_TEST_LONG", "FANTAIL_TEST_SEED"} {
		c.Env = append(c.Env, n+"="+os.Getenv(n))
	}
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
