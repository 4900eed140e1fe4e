package figures

import (
	"fmt"
	"syscall"
	"testing"
)

// BenchmarkKeyEcho measures from a key to its echo: idle, while a reply streams,
// and while ten agents' do beside it. The programs take turns of forty keys, in
// which the others stand still, so that what one does is in no other's way. Two
// more terminals take their keys in between: one with nothing in it but cat,
// below which no program comes, and one with three in a row, for a key of ours
// goes from the screen to its host and back.
func BenchmarkKeyEcho(b *testing.B) {
	t := newTable(b)
	for _, c := range []struct {
		name            string
		of              []program
		streams         bool
		beside          int
		median, slowest string
	}{
		{"idle", programs(), false, 0, "1.8", "5"},
		{"streaming", fantails(), true, 0, "1.5", "4"},
		{"ten agents beside", fantails(), true, 10, "1.5", "4"},
	} {
		var ms []*terminal
		for _, s := range sites(b, c.of, model{tokens: 1 << 18, pace: pace}) {
			m := s.open()
			for i := range c.beside {
				m.enter(fmt.Sprintf("/push name=w%d go", i))
				m.see(fmt.Sprintf("Queued w%d", i))
			}
			if c.beside > 0 {
				m.enter(fmt.Sprint("/run ", c.beside))
				m.see(fmt.Sprint(c.beside, " running"))
			}
			if c.streams {
				m.send("go\r")
				m.see("Where the time goes")
			}
			ms = append(ms, m)
		}
		r := t.row("key to echo, "+c.name, "ms", c.median)
		t.also(r, 0.99, c.slowest)
		lines := []*line{newLine(b, "cat"), newLine(b, "cat | cat | cat")}
		var bare []*row
		for _, l := range lines {
			bare = append(bare, t.row(fmt.Sprintf("key to echo by %s, %s", l.command, c.name), "ms", ""))
			t.also(bare[len(bare)-1], 0.99, "")
		}
		for _, m := range ms {
			m.signal(syscall.SIGSTOP)
		}
		for range rounds() {
			for _, m := range ms {
				m.signal(syscall.SIGCONT)
				m.settle()
				used := cpu(b, m.processes()...)
				for range 40 { // in all rounds the slowest of a hundred is more than one key
					r.ms(m.site.program, m.echo())
					for i, l := range lines { // beside each, or the others' turns would be shorter
						if d := l.echo(); m.site.program == ours {
							bare[i].ms(ours, d)
						}
					}
				}
				t.row("processor of forty echoes, "+c.name, "ms", "").ms(m.site.program, cpu(b, m.processes()...)-used)
				m.signal(syscall.SIGSTOP)
			}
		}
		for _, l := range lines {
			l.close()
		}
		for _, m := range ms {
			m.signal(syscall.SIGCONT)
			m.stop()
			m.site.ends()
		}
	}
}
