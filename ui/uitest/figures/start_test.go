package figures

import (
	"strings"
	"testing"
)

// rounds is how often the programs take turns.
func rounds() int {
	if testing.Short() {
		return 3
	}
	return 15
}

// sites are those of the programs, with models of their own.
func sites(b *testing.B, of []program, m model) (ss []*site) {
	for _, p := range of {
		ss = append(ss, newSite(b, p, m))
	}
	return ss
}

// BenchmarkStart measures from exec to the first sign of anything, to the first
// whole frame, and to the echo of a key typed on that. A start that is not timed
// goes before each: a machine puts the files away of a program that rests.
func BenchmarkStart(b *testing.B) {
	t := newTable(b)
	ss := sites(b, programs(), model{})
	for range rounds() {
		for _, s := range ss {
			for _, timed := range []bool{false, true} {
				s.one(t, "start", timed)
				s.ends()
			}
		}
	}
}

// BenchmarkAttach measures the same where the host is there.
func BenchmarkAttach(b *testing.B) {
	t := newTable(b)
	ss := sites(b, fantails(), model{})
	for _, s := range ss {
		s.open().stop()
	}
	for range rounds() {
		for _, s := range ss {
			for _, timed := range []bool{false, true} {
				s.one(t, "attach", timed)
			}
		}
	}
}

// one is one start.
func (s *site) one(t *table, what string, timed bool) {
	m := s.start()
	sign := m.until("anything", func(text string) bool { return strings.TrimSpace(text) != "" }).Sub(m.began)
	frame := m.see(status).Sub(m.began)
	m.send("Q")
	key := m.see(prompt + "Q").Sub(m.began)
	m.send("\x7f")
	m.lose(prompt + "Q")
	m.stop()
	if timed {
		t.row(what+": first sign", "ms", "8").ms(s.program, sign)
		t.row(what+": first frame", "ms", "").ms(s.program, frame)
		t.row(what+": ready for a key", "ms", map[string]string{"start": "45", "attach": "15"}[what]).ms(s.program, key)
	}
}

// errands are commands beside a host.
func errands() [][]string {
	return [][]string{
		{"send", "main", "run 7 is red"},
		{"push", "wait 1s"},
		{"check"},
		{"inbox"},
		{"queue"},
		{"agents"},
		{"show", "1"},
		{"schedule"},
		{"memory"},
		{"audit"},
		{"ls"},
		{"host", "status"},
		{"--version"},
	}
}

// BenchmarkErrand measures commands beside a host, from exec to their end. The
// empty program ends at once.
func BenchmarkErrand(b *testing.B) {
	t := newTable(b)
	var all []*site
	for _, s := range sites(b, programs(), model{}) {
		if all = append(all, s); s.program != empty {
			defer s.open().stop()
		}
	}
	for range rounds() {
		for _, args := range errands() {
			wanted := "8"
			if args[0] == "--version" {
				wanted = "6"
			}
			for _, s := range all {
				s.run(args...)
				took, pages := s.counted(args...)
				t.row("errand: "+args[0], "ms", wanted).ms(s.program, took)
				t.row("errand: "+args[0]+", new pages", "pages", "").add(s.program, float64(pages))
			}
		}
	}
}
