package figures

import (
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkReply measures a reply that comes as fast as it is sent, from the
// server's first byte until its end is on the screen, and the memory before and
// after, of a host that has just begun.
func BenchmarkReply(b *testing.B) {
	const tokens = 20_000
	t := newTable(b)
	ss := sites(b, fantails(), model{tokens: tokens})
	none := newSite(b, empty, model{})
	for range max(rounds(), 3) {
		for _, s := range append(ss, none) {
			m := s.open()
			pause(time.Second) // what the start leaves for later is not the reply's
			all, own := resident(b, m.processes()...)
			t.row("memory, idle", "MB", "45").add(s.program, all)
			t.row("memory, idle, of no file", "MB", "").add(s.program, own)
			if s != none {
				before := cpu(b, m.processes()...)
				end := s.model.ending()
				m.send("go\r")
				t.row("fast reply: to its end", "ms", "").ms(s.program, m.see(end).Sub(s.model.start()))
				pause(time.Second) // what is done after the end counts too
				t.row("fast reply: processor", "ms", "").ms(s.program, cpu(b, m.processes()...)-before)
				all, own = resident(b, m.processes()...)
				t.row("fast reply: memory after", "MB", "70").add(s.program, all)
				t.row("fast reply: of it no file's", "MB", "").add(s.program, own)
			}
			m.stop()
			s.ends()
		}
	}
}

// BenchmarkPacedReply measures a reply at the pace of a fast model: the
// processor time, and from the last byte sent until the end is on the screen.
func BenchmarkPacedReply(b *testing.B) {
	tokens := 2000
	if testing.Short() {
		tokens = 400
	}
	t := newTable(b)
	for range max(rounds(), 3) {
		// In another phase each time: who reads in gulps would else always be at the same place of one.
		tokens := tokens + rand.N(100)
		for _, s := range sites(b, fantails(), model{tokens: tokens, pace: pace}) {
			m := s.open()
			before := cpu(b, m.processes()...)
			end := s.model.ending()
			m.send("go\r")
			seen := m.see(end)
			t.row("paced reply: end behind the last byte", "ms", "20").ms(s.program, seen.Sub(s.model.end()))
			used := cpu(b, m.processes()...) - before
			t.row("paced reply: processor of 100 s", "s", "5").add(s.program, used.Seconds()*100/(float64(tokens)/pace))
			m.stop()
			s.ends()
		}
	}
}
