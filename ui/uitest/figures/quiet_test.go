package figures

import (
	"fmt"
	"testing"
)

// BenchmarkQuiet measures a program that is quiet and whose policy would let each
// of 50 urgent messages start a turn: what it does where nobody does anything, and
// how many requests it makes.
func BenchmarkQuiet(b *testing.B) {
	z := sizes()
	f := measure(b)
	m := serve(b, 0, 0)
	s := newSite(b, m.base)
	ours, empty := open(b, s, programEnv), open(b, s, emptyEnv)
	defer ours.stop()
	defer empty.stop()
	for _, command := range []string{"/messages mode interrupt", "/messages quiet"} {
		ours.send(command)
		ours.see(command)
		ours.send("\r")
	}
	ours.see("Quiet: mail is held")
	const n = 50
	for i := range n {
		c := s.command(programEnv)
		c.Args = append(c.Args, "send", "main", "--priority=urgent", fmt.Sprintf("run %d is red", i))
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatal(err, string(out))
		}
	}
	ours.see(fmt.Sprintf("%d pending]", n))
	f.idle("quiet", z.idle, ours, empty)
	m.mu.Lock()
	defer m.mu.Unlock()
	f.report("requests", float64(m.asked))
	if m.asked > 0 {
		b.Errorf("%d requests while it was quiet", m.asked)
	}
}
