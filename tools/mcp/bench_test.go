package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"fantail/tools"
)

// bench is a room over servers whose tools are kept, so that none runs.
func bench(b *testing.B, servers, of int) *Servers {
	dir := b.TempDir()
	var all []Server
	kept := New(Options{Root: b.TempDir(), Dir: dir})
	for n := range servers {
		s := Server{Name: fmt.Sprint("server", n), Own: true, Command: "/nowhere"}
		all = append(all, s)
		k := &serverRecord{Fingerprint: s.fingerprint()}
		for i := range of {
			k.Tools = append(k.Tools, toolRecord{Current: toolDescription{
				Name: fmt.Sprintf("tool%03d", i), Description: "Does the job number " + fmt.Sprint(i) + ", and tells how it went.",
				Schema: []byte(`{"properties":{"a":{"description":"What to do it with","type":"string"}},"type":"object"}`),
			}})
		}
		kept.records[s.Name] = k
	}
	kept.saveRecords()
	if _, err := os.Stat(filepath.Join(dir, "tools.json")); err != nil {
		b.Fatal(err)
	}
	return New(Options{Root: b.TempDir(), Dir: dir, Servers: func() []Server { return all }})
}

// The first list of 20 servers that nobody uses.
func BenchmarkRoom_idle20(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		r := bench(b, 20, 5)
		b.StartTimer()
		r.Lend(b.Context())
		r.States()
	}
}

// The first turn with 300 tools, from the file to what is offered.
func BenchmarkRoom_first300(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		r := bench(b, 3, 100)
		set := tools.New().Lend(r)
		b.StartTimer()
		own := set.Own(set, nil, nil)
		own.Turn(b.Context(), 1, 200_000)
		own.Specs()
	}
}

// A later turn with 300 tools.
func BenchmarkRoom_turn300(b *testing.B) {
	r := bench(b, 3, 100)
	set := tools.New().Lend(r)
	own := set.Own(set, nil, nil)
	n := int64(0)
	for b.Loop() {
		n++
		own.Turn(b.Context(), n, 200_000)
		own.Specs()
	}
}

// A call finds its tool among those of 20 servers.
func BenchmarkRoom_borrow20(b *testing.B) {
	r := bench(b, 20, 50)
	r.Names()
	for b.Loop() {
		if _, is := r.Borrow("mcp__server7__tool003"); !is {
			b.Fatal("it is not lent")
		}
	}
}
