package crash

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"fantail/tools/proc"
	"fantail/tools/secret"
	"fantail/ui/screen/watchdog"
)

// Guard ends the program in order when it can't go on: it restores the terminal, closes running work and writes a
// crash file, all within a bounded time. Every goroutine of ours starts through [Guard.Go].
type Guard struct {
	o       Options
	environ []string
	now     func() time.Time

	mu   sync.Mutex
	dir  string // of crash files
	keys *secret.Keys
	ends []func()
	last []string // to be said once the screen is gone

	before string // how the program failed the last time; "": it did not, or that was reported

	watchdog watchdog.Watchdog // ends the commands that ran
	groups   map[int]bool      // their groups, by leader

	once sync.Once // of ending: a second caller waits for the exit
}

// patience is how long one step of an emergency end may take.
const patience = 300 * time.Millisecond

// failed is the exit code after a panic.
const failed = 1

// Options are what a guard has from the program.
type Options struct {
	Out     io.Writer // standard error
	Exit    func(code int)
	Clean   func(s string) string // removes control sequences from a text
	Version string                // of the program, for crash files
}

// New returns a guard that writes to o.Out and ends the process with o.Exit. Crash files do not contain the values in
// environ that no command gets.
func New(environ []string, o Options) *Guard {
	return &Guard{o: o, environ: environ, now: time.Now, dir: os.TempDir(), groups: map[int]bool{}}
}

// CrashIn sets the directory of crash files; until then it is the temporary directory.
func (g *Guard) CrashIn(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dir = dir
}

// Withhold sets the keys that nothing printed or recorded from now on may contain.
func (g *Guard) Withhold(keys *secret.Keys) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys = keys
}

// Text returns s without keys.
func (g *Guard) Text(s string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.keys.Text(s)
}

// Fatal makes the runtime write unrecoverable errors (a concurrent map write, no memory, a panic in a goroutine that
// is not ours) into a file beside the crash files; [Guard.Before] reports whether that happened the last time. Only
// the workspace's host may call it.
func (g *Guard) Fatal() error {
	g.mu.Lock()
	path := filepath.Join(g.dir, "fatal.txt")
	g.mu.Unlock()
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		last := filepath.Join(filepath.Dir(path), crashName(info.ModTime())+".txt")
		why, err := g.keep(path, last)
		if err != nil {
			return fmt.Errorf("keep the last crash file: %w", err)
		}
		g.mu.Lock()
		g.before = fmt.Sprintf("the program failed the last time (%s); details are in %s", why, last)
		g.mu.Unlock()
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("prepare a crash file: %w", err)
	}
	defer f.Close() // the runtime has a descriptor of its own
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// Before returns, once, how the program failed the last time; "": it did not.
func (g *Guard) Before() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	text := g.before
	g.before = ""
	return g.o.Clean(text)
}

// keep moves the runtime's output, from which keys were not removed, to its final place. It returns its first line,
// the cause.
func (g *Guard) keep(path, last string) (why string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	kept := g.redact(string(text))
	if err := os.WriteFile(path, []byte(kept), 0o600); err != nil {
		return "", err
	}
	return firstLine(kept), os.Rename(path, last)
}

// AtEnd adds a step of an emergency end. The steps run in the order they were added, each in a goroutine of its own
// that is abandoned when it takes too long. The ordinary end of the program does not run them.
func (g *Guard) AtEnd(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ends = append(g.ends, f)
}

// Go starts f in a goroutine. A panic in it ends the program.
func (g *Guard) Go(name string, f func()) {
	go func() {
		defer g.Catch(name)
		f()
	}()
}

// Catch must be deferred: it ends the program if the goroutine panics.
func (g *Guard) Catch(name string) {
	if v := recover(); v != nil {
		g.Crash(name, v, debug.Stack())
	}
}

// Keep has a command's process group ended if this process dies before the returned function is called.
func (g *Guard) Keep(group proc.Group) (end func()) {
	_ = g.watchdog.Start(-1) // without it the next start ends the remaining processes
	g.mu.Lock()
	g.groups[group.PGID] = true
	g.mu.Unlock()
	g.watchdog.Kills(group.PGID)
	return func() {
		g.watchdog.Spares(group.PGID)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.groups, group.PGID)
	}
}

// Keeps reports whether the process leads a group that [Guard.Keep] guards, or is one of the guard's own.
func (g *Guard) Keeps(pid int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.groups[pid] || g.watchdog.PID() == pid
}

// Crash ends the program because of a panic with that value and stack.
func (g *Guard) Crash(name string, v any, stack []byte) {
	g.once.Do(func() {
		restored := g.restore()
		g.say(fmt.Sprintf("the program failed (%s): %s", name, g.redact(firstLine(fmt.Sprint(v)))))
		g.record(fmt.Sprintf("panic in %s: %v", name, v), stack)
		g.Say()
		if restored {
			g.watchdog.Leave()
		}
		g.o.Exit(failed)
	})
	select {} // another goroutine is ending the process
}

// Fault records a panic that other code caught, with its text; [Guard.Say] says where.
func (g *Guard) Fault(name, text string) {
	g.say("the program failed (" + name + ")")
	g.record("panic in "+name, []byte(text))
}

// Leave ends the program at once: the terminal is restored and code is the exit code.
func (g *Guard) Leave(code int) {
	g.once.Do(func() {
		restored := g.restore()
		g.Say()
		if restored {
			g.watchdog.Leave()
		}
		g.o.Exit(code)
	})
	select {}
}

// Exit is the ordinary end of the program. While an emergency end is under way
// it waits for that instead.
func (g *Guard) Exit(code int) {
	g.once.Do(func() {
		g.Say()
		g.watchdog.Leave()
		g.o.Exit(code)
	})
	select {}
}

// Dump writes a crash file with the stacks of all goroutines; [Guard.Say] says where.
func (g *Guard) Dump(cause string) {
	buf := make([]byte, 4<<20)
	g.record(cause, buf[:runtime.Stack(buf, true)])
}

// Record writes a crash file about the failure of a part of the program, and returns its path.
func (g *Guard) Record(cause string, stack []byte) (path string, err error) {
	return g.write(cause, stack)
}

// record writes a crash file and notes where it is.
func (g *Guard) record(cause string, stack []byte) {
	path, err := g.write(cause, stack)
	if err != nil {
		g.say(fmt.Sprintf("no crash file could be written: %v", err))
		return
	}
	g.say("details are in " + path)
	g.say("messages and transcripts are on disk; start fantail again to go on")
}

func (g *Guard) say(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = append(g.last, line)
}

// Say prints the messages about the program's end, once, when the screen is gone.
func (g *Guard) Say() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.before != "" { // there was no screen to show it
		g.last = append(g.last, g.before)
	}
	for _, line := range g.last {
		fmt.Fprintf(g.o.Out, "fantail: %s\n", g.o.Clean(g.keys.Text(line)))
	}
	g.last, g.before = nil, ""
}

// restore runs the steps of an emergency end and reports whether all of them ended.
func (g *Guard) restore() bool {
	all := true
	g.mu.Lock()
	ends := g.ends
	g.mu.Unlock()
	for _, end := range ends {
		done := make(chan struct{})
		go func() {
			defer close(done)
			// A step that fails must not prevent the next ones.
			defer func() { _ = recover() }()
			end()
		}()
		late := time.NewTimer(patience)
		select {
		case <-done:
		case <-late.C:
			all = false
		}
		late.Stop()
	}
	return all
}

// write writes a crash file, readable by its owner only.
func (g *Guard) write(cause string, stack []byte) (string, error) {
	g.mu.Lock()
	dir := g.dir
	g.mu.Unlock()
	now := g.now()
	var b strings.Builder
	fmt.Fprintf(&b, "time: %s\nversion: %s\nsystem: %s/%s, %s\n\n%s\n\n%s", now.Format(time.RFC3339), g.o.Version, runtime.GOOS, runtime.GOARCH, runtime.Version(), cause, stack)
	text := g.o.Clean(g.redact(b.String()))
	name := crashName(now)
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+".txt")
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.txt", name, n))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if os.IsExist(err) && n < 100 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(text)
		if e := f.Close(); err == nil {
			err = e
		}
		return path, err
	}
}

func crashName(t time.Time) string { return "crash-" + t.UTC().Format("20060102-150405.000") }

// redact returns s without keys and without the values of all variables that no command gets. Strangers may read a
// crash file: hiding too much does no harm there.
func (g *Guard) redact(s string) string {
	g.mu.Lock()
	keys := g.keys
	g.mu.Unlock()
	kept := map[string]bool{}
	for _, e := range proc.Clean(g.environ, keys) {
		kept[e] = true
	}
	var names []string
	values := map[string]string{}
	for _, e := range g.environ {
		if name, value, _ := strings.Cut(e, "="); !kept[e] {
			names, values[name] = append(names, name), value
		}
	}
	return secret.New(names, func(name string) string { return values[name] }).Text(keys.Text(s))
}

// firstLine returns s up to its first line break.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
