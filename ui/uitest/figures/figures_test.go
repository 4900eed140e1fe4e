package figures

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

const (
	status = "[Agent: "     // of the first frame, in both programs
	prompt = "\u203a "      // where keys appear
	ending = "THE-END-MARK" // of a reply
	pace   = 200.0          // tokens a second, of a fast model
)

// size is how much is measured.
type size struct {
	starts, tokens, replies, keys int
	idle                          time.Duration
	paced                         int // tokens of the reply at a pace
}

func sizes() size {
	if testing.Short() {
		return size{starts: 5, tokens: 20000, replies: 2, keys: 20, idle: 3 * time.Second, paced: 2000}
	}
	return size{starts: 20, tokens: 20000, replies: 5, keys: 150, idle: 20 * time.Second, paced: 20000}
}

// model serves replies of so many tokens of markdown.
type model struct {
	base string

	mu     sync.Mutex
	asked  int // requests
	tokens int
	pace   float64
	began  time.Time // of the latest reply
}

func serve(b *testing.B, tokens int, pace float64) *model {
	b.Helper()
	if runtime.GOOS != "linux" {
		b.Skip("the figures are read from Linux's /proc")
	}
	if os.Getenv(programEnv) == "" {
		b.Fatal("the program was not built")
	}
	m := &model{tokens: tokens, pace: pace}
	s := &llmtest.Server{Answer: m.answer}
	base, stop, err := s.Start()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	m.base = base
	return m
}

func (m *model) answer(llmtest.Request) llmtest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := llmtest.Lorem(m.tokens) + "\n\n" + ending
	m.asked++
	m.began = time.Now()
	return llmtest.Reply{Parts: []llm.Part{llm.Text{Text: text}}, Pace: m.pace}
}

func (m *model) start() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.began
}

// open starts a program and waits until it has settled.
func open(b *testing.B, s *site, env string) *terminal {
	b.Helper()
	t := start(b, s.command(env))
	t.see(status)
	t.send("Q")
	t.see(prompt + "Q")
	t.send("\x7f")
	t.lose(prompt + "Q")
	pause(time.Second)
	return t
}

// figures are named measurements of one benchmark.
type figures struct {
	b  *testing.B
	ds map[string][]float64
}

func measure(b *testing.B) *figures {
	b.ReportMetric(0, "ns/op")
	return &figures{b, map[string][]float64{}}
}

func (f *figures) add(name string, v float64) { f.ds[name] = append(f.ds[name], v) }

func (f *figures) ms(name string, d time.Duration) { f.add(name, float64(d.Microseconds())/1000) }

// at is the p-th part of the values in order; 0.5 is the median.
func (f *figures) at(name string, p float64) float64 {
	v := f.ds[name]
	slices.Sort(v)
	return v[int(p*float64(len(v)-1)+0.5)]
}

// row prints a line of the table: what, ours, the empty program's, what was wanted.
func (f *figures) row(what, unit string, ours, empty float64, wanted string) {
	f.b.Helper()
	f.b.Logf("%-34s %8.2f %-3s  empty program %8.2f  wanted %s", what, ours, unit, empty, wanted)
}

func (f *figures) alone(what, unit string, ours float64, wanted string) {
	f.b.Helper()
	f.b.Logf("%-34s %8.2f %-3s  %22s  wanted %s", what, ours, unit, "", wanted)
}

func (f *figures) report(name string, v float64) { f.b.ReportMetric(v, name) }

// BenchmarkStart measures from exec to the first frame, and to the echo of a key
// typed on it. The two programs take turns.
func BenchmarkStart(b *testing.B) {
	s, n := newSite(b, serve(b, 0, 0).base), sizes().starts
	f := measure(b)
	for i := range n + 2 {
		for _, p := range []struct{ env, frame, key string }{
			{emptyEnv, "empty-frame-ms", "empty-key-ms"}, {programEnv, "frame-ms", "key-ms"},
		} {
			t := start(b, s.command(p.env))
			frame := t.see(status).Sub(t.began)
			t.send("Q")
			key := t.see(prompt + "Q").Sub(t.began)
			t.stop()
			if i >= 2 { // before that the files are not in memory
				f.ms(p.frame, frame)
				f.ms(p.key, key)
			}
		}
	}
	for _, name := range []string{"empty-frame-ms", "empty-key-ms", "frame-ms", "key-ms"} {
		f.report(name, f.at(name, 0.5))
	}
	b.Logf("medians of %d, load %s", n, load())
	f.row("first frame", "ms", f.at("frame-ms", 0.5), f.at("empty-frame-ms", 0.5), "35, and empty + 10")
	f.row("ready for a key", "ms", f.at("key-ms", 0.5), f.at("empty-key-ms", 0.5), "45, and empty + 10")
}

// BenchmarkReply measures a reply that comes as fast as it is sent, from the
// server's first byte until its end is on the screen, and the memory before and
// after.
func BenchmarkReply(b *testing.B) {
	z := sizes()
	m := serve(b, z.tokens, 0)
	f := measure(b)
	for range z.replies {
		s := newSite(b, m.base)
		t := open(b, s, programEnv)
		pid := t.cmd.Process.Pid
		all, own := resident(b, pid)
		f.add("idle-MB", all)
		f.add("idle-own-MB", own)
		before := cpu(b, pid)
		t.send("go\r")
		f.add("wall-s", t.see(ending).Sub(m.start()).Seconds())
		pause(time.Second) // what is done after the end counts too
		f.add("cpu-s", (cpu(b, pid) - before).Seconds())
		all, own = resident(b, pid)
		f.add("after-MB", all)
		f.add("after-own-MB", own)
		t.stop()
		e := open(b, s, emptyEnv)
		all, _ = resident(b, e.cmd.Process.Pid)
		f.add("empty-idle-MB", all)
		e.stop()
	}
	for _, name := range []string{"wall-s", "cpu-s", "idle-MB", "after-MB", "empty-idle-MB"} {
		f.report(name, f.at(name, 0.5))
	}
	b.Logf("medians of %d, %d tokens, load %s", z.replies, z.tokens, load())
	f.alone("reply, wall", "s", f.at("wall-s", 0.5), "0.5")
	f.alone("reply, processor", "s", f.at("cpu-s", 0.5), "0.8")
	f.row("memory idle", "MB", f.at("idle-MB", 0.5), f.at("empty-idle-MB", 0.5), "45")
	f.alone("  of it not the binary's pages", "MB", f.at("idle-own-MB", 0.5), "-")
	f.alone("memory after the reply", "MB", f.at("after-MB", 0.5), "70")
	f.alone("  of it not the binary's pages", "MB", f.at("after-own-MB", 0.5), "-")
}

// BenchmarkPacedReply measures the processor time of a reply at the pace of a
// fast model.
func BenchmarkPacedReply(b *testing.B) {
	z := sizes()
	m := serve(b, z.paced, pace)
	f := measure(b)
	t := open(b, newSite(b, m.base), programEnv)
	defer t.stop()
	pid := t.cmd.Process.Pid
	before := cpu(b, pid)
	t.send("go\r")
	wall := t.see(ending).Sub(m.start())
	used := (cpu(b, pid) - before).Seconds()
	all, _ := resident(b, pid)
	f.report("wall-s", wall.Seconds())
	f.report("cpu-s", used)
	f.report("after-MB", all)
	b.Logf("%d tokens at %.0f a second, load %s", z.paced, pace, load())
	f.alone("paced reply, processor", "s", used, "4 in 100 s")
	f.alone("paced reply, wall", "s", wall.Seconds(), "as sent")
	f.alone("memory after the paced reply", "MB", all, "70")
}

// BenchmarkKeyEcho measures from a key to its echo: in the empty program, idle,
// and while a reply streams. They take turns, so that the machine is as busy for
// each.
func BenchmarkKeyEcho(b *testing.B) {
	z := sizes()
	m := serve(b, 1<<20, pace) // longer than the benchmark
	f := measure(b)
	var ts [3]*terminal
	names := []string{"empty", "idle", "streaming"}
	for i, env := range []string{emptyEnv, programEnv, programEnv} {
		ts[i] = open(b, newSite(b, m.base), env)
		defer ts[i].stop()
	}
	ts[2].send("go\r")
	ts[2].see("Where the time goes")
	for range z.keys {
		for i, t := range ts {
			began := time.Now()
			t.send("Q")
			f.ms(names[i], t.see(prompt+"Q").Sub(began))
			pause(rand.N(20 * time.Millisecond))
			t.send("\x7f")
			t.lose(prompt + "Q")
			pause(rand.N(20 * time.Millisecond))
		}
	}
	b.Logf("%d keys each, load %s", z.keys, load())
	for _, name := range names {
		f.report(name+"-p50-ms", f.at(name, 0.5))
		f.report(name+"-p99-ms", f.at(name, 0.99))
	}
	for _, name := range names[1:] {
		f.row("key to echo, "+name+", p50", "ms", f.at(name, 0.5), f.at("empty", 0.5), "empty + 3")
		f.row("key to echo, "+name+", p99", "ms", f.at(name, 0.99), f.at("empty", 0.99), "empty + 3")
	}
}

// BenchmarkIdle measures what the program does while nothing happens, beside the
// empty one at the same time.
func BenchmarkIdle(b *testing.B) {
	z := sizes()
	f := measure(b)
	s := newSite(b, serve(b, 0, 0).base)
	ours, empty := open(b, s, programEnv), open(b, s, emptyEnv)
	defer ours.stop()
	defer empty.stop()
	f.idle("idle", z.idle, ours, empty)
}

// idle measures what programs do where nobody does anything.
func (f *figures) idle(what string, long time.Duration, ours, empty *terminal) {
	b := f.b
	b.Helper()
	pause(3 * time.Second) // what came before is over, garbage included
	var used [2]time.Duration
	var woken [2]int
	for _, sign := range []int{-1, 1} {
		for i, t := range []*terminal{ours, empty} {
			pid := t.cmd.Process.Pid
			used[i] += time.Duration(sign) * cpu(b, pid)
			woken[i] += sign * wakeups(b, pid)
		}
		if sign < 0 {
			pause(long)
		}
	}
	f.report("cpu-ms", float64(used[0].Microseconds())/1000)
	f.report("empty-cpu-ms", float64(used[1].Microseconds())/1000)
	f.report("wakeups", float64(woken[0]))
	f.report("empty-wakeups", float64(woken[1]))
	b.Logf("%v, load %s", long, load())
	f.row(what+", processor", "ms", float64(used[0].Microseconds())/1000, float64(used[1].Microseconds())/1000, "empty * 1.1")
	f.row(what+", wake-ups", "", float64(woken[0]), float64(woken[1]), "empty + 0")
}
