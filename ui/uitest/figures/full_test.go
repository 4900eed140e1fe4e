package figures

import (
	"fmt"
	"path/filepath"
	"testing"

	"fantail/inbox"
	"fantail/store"
)

const full = 100_000 // messages that wait

// BenchmarkFullInbox measures the start with 100,000 messages that wait for
// main, beside the start with none, and the memory both take.
func BenchmarkFullInbox(b *testing.B) {
	base := serve(b, 0, 0).base
	sites := map[string]*site{"": newSite(b, base), "full-": newSite(b, base)}
	open(b, sites[""], programEnv).stop() // makes the workspace
	open(b, sites["full-"], programEnv).stop()
	fill(b, sites["full-"])
	f, n := measure(b), sizes().starts
	for i := range n + 2 {
		for name, s := range sites {
			t := start(b, s.command(programEnv))
			frame := t.see(status).Sub(t.began)
			t.send("Q")
			key := t.see(prompt + "Q").Sub(t.began)
			if name != "" {
				t.see(fmt.Sprintf("%d pending]", full))
			}
			pause(sizes().idle / 10)
			all, _ := resident(b, t.cmd.Process.Pid)
			t.send("\x7f")
			t.stop()
			if i >= 2 {
				f.ms(name+"frame-ms", frame)
				f.ms(name+"key-ms", key)
				f.add(name+"MB", all)
			}
		}
	}
	for _, what := range []string{"frame-ms", "key-ms", "MB"} {
		f.report(what, f.at(what, 0.5))
		f.report("full-"+what, f.at("full-"+what, 0.5))
	}
	b.Logf("medians of %d, load %s", n, load())
	b.Logf("with %d messages, and with none: first frame %.1f and %.1f ms, ready for a key %.1f and %.1f ms (wanted 300), memory %.1f and %.1f MB (wanted + 30)",
		full, f.at("full-frame-ms", 0.5), f.at("frame-ms", 0.5), f.at("full-key-ms", 0.5), f.at("key-ms", 0.5), f.at("full-MB", 0.5), f.at("MB", 0.5))
}

// fill deposits the messages while no program runs there.
func fill(b *testing.B, s *site) {
	b.Helper()
	s.write(b, func(db *store.DB) error {
		box := inbox.New(db, nil)
		for done := 0; done < full; done += 1000 {
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
	paths, err := filepath.Glob(filepath.Join(s.dir, "..", ".local", "share", "fantail", "*", "*.db"))
	if err != nil || len(paths) != 1 {
		b.Fatal(paths, err)
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
