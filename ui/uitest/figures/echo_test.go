package figures

import (
	"fmt"
	"testing"
)

// BenchmarkKeyEcho measures from a key to its echo: idle, while a reply streams,
// and while ten agents' do beside it. The programs take turns key by key, so
// that the machine is as busy for each.
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
		for range 10 * rounds() {
			for _, m := range ms {
				r.ms(m.site.program, m.echo())
			}
		}
		t.also(r, 0.99, c.slowest)
		for _, m := range ms {
			m.stop()
			m.site.ends()
		}
	}
}
