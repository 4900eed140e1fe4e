package figures

import (
	"fmt"
	"testing"
	"time"

	"fantail/inbox"
	"fantail/store"
)

const full = 100_000 // messages that wait

// BenchmarkFullInbox measures the start with 100,000 messages that wait for
// main, beside the start with none, and the memory both take.
func BenchmarkFullInbox(b *testing.B) {
	t := newTable(b)
	type kept struct {
		*site
		what string
		n    int
	}
	var all []kept
	for _, p := range []program{ours} { // another build may have another schema
		for what, n := range map[string]int{"none wait": 0, "100,000 wait": full} {
			s := newSite(b, p, model{})
			s.open().stop() // makes the workspace
			s.ends()
			if n > 0 {
				s.fill(b, n)
			}
			all = append(all, kept{s, what, n})
		}
	}
	for range rounds() {
		for _, k := range all {
			for _, timed := range []bool{false, true} {
				m := k.start()
				m.see(status)
				m.send("Q")
				key := m.see(prompt + "Q").Sub(m.began)
				if k.n > 0 {
					m.see(fmt.Sprintf("%d pending]", k.n))
				}
				pause(time.Second / 2)
				mem, _ := resident(b, m.processes()...)
				m.send("\x7f")
				m.lose(prompt + "Q")
				m.stop()
				k.ends()
				if timed {
					t.row(k.what+": ready for a key", "ms", "300").ms(k.program, key)
					t.row(k.what+": memory", "MB", "").add(k.program, mem)
				}
			}
		}
	}
}

// fill deposits n messages while no program runs there.
func (s *site) fill(b *testing.B, n int) {
	b.Helper()
	s.write(b, func(db *store.DB) error {
		box := inbox.New(db, nil)
		for done := 0; done < n; done += 1000 {
			err := db.Write(b.Context(), "fill", func(tx *store.Tx) error {
				main, _, err := tx.AgentByName("main")
				for i := 0; i < 1000 && err == nil; i++ {
					_, err = box.Add(tx, inbox.Message{Recipient: main.ID, From: "ci", Deliver: inbox.Hold, Body: fmt.Sprintf("run %d is red: three tests of the parser fail since yesterday", done+i)})
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// write opens the site's database, while no program runs there, for f.
func (s *site) write(b *testing.B, f func(db *store.DB) error) {
	b.Helper()
	paths := s.data("*.db")
	if len(paths) != 1 {
		b.Fatal(paths)
	}
	db, err := store.Open(b.Context(), paths[0], store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := f(db); err != nil {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}
