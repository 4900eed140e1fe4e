package figures

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkIdle measures what a program does where nobody does anything: beside
// nothing, beside twenty agents that wait, and while fifty urgent messages wait
// that may not start a turn. All stand beside one another.
func BenchmarkIdle(b *testing.B) {
	within, settled := 20*time.Second, 130*time.Second // by then the clocks in sight tell minutes
	if testing.Short() {
		within, settled = 3*time.Second, 5*time.Second
	}
	const urgent = 50
	t := newTable(b)
	type idler struct {
		*terminal
		what string
	}
	var all []idler
	for _, s := range sites(b, programs(), model{}) {
		m := s.open()
		all = append(all, idler{m, "idle"})
		defer m.stop()
	}
	for _, s := range sites(b, fantails(), model{}) {
		s.env = append(s.env, "FANTAIL_MODEL=builtin")
		m := s.open()
		for i := range 20 {
			m.enter(fmt.Sprintf("/push name=w%d wait 1h then say over", i))
			m.see(fmt.Sprintf("Queued w%d", i))
		}
		m.enter("/run 20")
		m.see("20 running")
		all = append(all, idler{m, "idle beside twenty that wait"})
		defer m.stop()
	}
	for _, s := range sites(b, fantails(), model{}) {
		m := s.open()
		m.enter("/messages mode interrupt")
		m.enter("/messages quiet")
		m.see("Quiet. Mail waits silently. /messages resume to end")
		for i := range urgent {
			s.run("send", "main", "--priority=urgent", fmt.Sprintf("run %d is red", i))
		}
		m.see(fmt.Sprintf("%d pending]", urgent))
		all = append(all, idler{m, "quiet with mail"})
		defer m.stop()
	}
	pause(settled)
	for range max(rounds()*3/5, 2) {
		type state struct {
			used  time.Duration
			woken []int
		}
		look := func(i idler) (s state) {
			for _, pid := range i.processes() {
				s.woken = append(s.woken, wakeups(b, pid))
			}
			s.used = cpu(b, i.processes()...)
			return s
		}
		var before []state
		for _, i := range all {
			before = append(before, look(i))
		}
		pause(within)
		for n, i := range all {
			now, p := look(i), i.site.program
			t.row(i.what+": processor", "ms", "0").ms(p, now.used-before[n].used)
			for k, whose := range []string{"wake-ups of the screen", "wake-ups of the host"} {
				if k < len(now.woken) {
					t.row(i.what+": "+whose, "", "20").add(p, float64(now.woken[k]-before[n].woken[k]))
				}
			}
		}
	}
	for _, i := range all {
		if n := i.site.model.requests(); n > 0 {
			b.Errorf("%s, %s: %d requests while nobody did anything", i.site.program, i.what, n)
		}
	}
}

// BenchmarkResize measures what a hundred sizes cost that follow one another as
// in a window that is dragged, with a long reply in view, and then nothing does.
func BenchmarkResize(b *testing.B) {
	t := newTable(b)
	var ms []*terminal
	for _, s := range sites(b, fantails(), model{tokens: 20_000}) {
		m := s.open()
		end := s.model.ending()
		m.send("go\r")
		m.see(end)
		defer m.stop()
		ms = append(ms, m)
	}
	for range rounds() {
		for _, m := range ms {
			pause(time.Second / 2)
			before := cpu(b, m.processes()...)
			for i := range 100 {
				m.resize(80+(i*7)%40, 24+i%12)
				pause(10 * time.Millisecond)
			}
			m.resize(120, 36)
			pause(time.Second / 2)
			t.row("a hundred sizes: processor", "ms", "400").ms(m.site.program, cpu(b, m.processes()...)-before)
		}
	}
}
