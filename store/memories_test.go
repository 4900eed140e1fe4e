package store

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestMemories: each write is a new version, the newest counts, an empty one removes the document, and its history
// stays.
//
// Spec: M-10.
func TestMemories(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000).UTC()
	db := at(t, &now)
	id := agent(t, db, "scout")
	keep := func(name, part, text string, by int64, want int) {
		t.Helper()
		write(t, db, func(tx *Tx) error {
			if v, err := tx.Remember(Memory{Name: name, Part: part, Text: text, Agent: by}); v != want || err != nil {
				t.Errorf("%s/%s: version %d, %v", name, part, v, err)
			}
			return nil
		})
		now = now.Add(time.Minute)
	}
	keep("oauth", "security", "PKCE", id, 1)
	keep("oauth", "", "überall", 0, 1)
	keep("oauth", "security", "PKCE, always", 0, 2)
	keep("build", "", "make", id, 1)
	keep("build", "", "", 0, 2)
	read(t, db, func(rx *Rx) error {
		ms, err := rx.Memories("")
		if err != nil || len(ms) != 2 || ms[0].Part != "" || ms[0].Size != 8 || ms[0].Text != "" || ms[1].Version != 2 || ms[1].By != "" {
			t.Errorf("%+v, %v", ms, err)
		}
		if ms, err = rx.Memories("oauth"); err != nil || len(ms) != 2 {
			t.Errorf("%+v, %v", ms, err)
		}
		if ms, err = rx.Memories("oau"); err != nil || len(ms) != 0 {
			t.Errorf("%+v, %v", ms, err)
		}
		m, ok, err := rx.Memory("oauth", "security", 1)
		if !ok || err != nil || m.Text != "PKCE" || m.By != "scout" || m.Agent != id || !m.Created.Equal(now.Add(-5*time.Minute)) {
			t.Errorf("%+v, %v", m, err)
		}
		if m, ok, err = rx.Memory("build", "", 0); !ok || err != nil || m.Text != "" || m.Version != 2 {
			t.Errorf("%+v, %v", m, err)
		}
		if _, ok, err = rx.Memory("oauth", "nothing", 0); ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		log, err := rx.MemoryLog("oauth", "security", 10)
		var versions []int
		for _, m := range log {
			versions = append(versions, m.Version)
		}
		if err != nil || !reflect.DeepEqual(versions, []int{2, 1}) || strings.Contains(log[0].Text, "PKCE") {
			t.Errorf("%+v, %v", log, err)
		}
		return nil
	})
}
