package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func many(n int) (all []OfferedTool) {
	for i := range n {
		all = append(all, OfferedTool{
			Name: fmt.Sprintf("mcp__db__job_%03d", i), From: "db", About: fmt.Sprintf("Does the job number %d. %s", i, strings.Repeat("Words. ", 40)),
			Schema: json.RawMessage(`{"type":"object"}`),
		})
	}
	all[n-1].About = "Sends an invoice to a customer."
	return all
}

func names(all []OfferedTool) (s string) {
	for _, t := range all {
		s += t.Name + " "
	}
	return strings.TrimSpace(s)
}

func TestShelf(t *testing.T) {
	s := &Offer{}
	if len(s.Offers()) != 0 {
		t.Error("an empty shelf offers something")
	}
	s.Turn(1, 100_000, func() []OfferedTool { return many(3) })
	if got := names(s.Offers()); got != "mcp__db__job_000 mcp__db__job_001 mcp__db__job_002" {
		t.Error(got)
	}
	s.Turn(1, 100_000, func() []OfferedTool { t.Error("it is asked again within a turn"); return nil })
	s.Turn(2, 100_000, func() []OfferedTool { return many(300) })
	if got := s.Offers(); names(got) != FindTool || len(got[0].About) > listed+2000 || !strings.Contains(got[0].About, "- db, 300 tools: job_000, job_001") {
		t.Errorf("%.300v", got)
	}
	if got := s.Find("xyzzy"); !strings.HasPrefix(got, "No tool fits") {
		t.Error(got)
	}
	if got := s.Find("send an invoice"); !strings.HasPrefix(got, "From your next message on you can call:\n- mcp__db__job_299: Sends an invoice") {
		t.Error(got)
	}
	s.Find("job_017")
	got := names(s.Offers())
	if !strings.HasPrefix(got, FindTool+" mcp__db__job_299 ") || !strings.Contains(got, "mcp__db__job_017") {
		t.Error(got)
	}
	s.Turn(3, 100_000, func() []OfferedTool { return many(300) })
	if names(s.Offers()) != got {
		t.Error("what was found is not offered in the next turn")
	}
	for i := range 100 {
		s.Find(fmt.Sprintf("mcp__db__job_%03d", i))
	}
	size := 0
	for _, o := range s.Offers() {
		size += o.size()
	}
	if len(s.Offers()) != held+1 || size/token > maxOfferTokens {
		t.Errorf("%d tools are offered, %d bytes", len(s.Offers()), size)
	}
}

// Offered tools leave room in a small window, too.
func TestShelf_window(t *testing.T) {
	for window, few := range map[int]bool{0: true, 200_000: true, 8_000: false} {
		s := &Offer{}
		s.Turn(1, window, func() []OfferedTool { return many(20) })
		if got := names(s.Offers()) != FindTool; got != few {
			t.Errorf("window %d: all are offered: %v", window, got)
		}
	}
}

func BenchmarkShelf(b *testing.B) {
	all := many(300)
	s := &Offer{}
	for n := range b.N {
		s.Turn(int64(n)+1, 200_000, func() []OfferedTool { return all })
		s.Offers()
		s.Find("send an invoice")
	}
}
