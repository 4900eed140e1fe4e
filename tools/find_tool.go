package tools

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed find_tool.md
var findToolText string

// FindTool is the name of the tool that finds tools.
const FindTool = "find_tool"

const (
	share          = 10     // the part of a window for tools
	maxOfferTokens = 20_000 // most tokens for tools
	token          = 4      // bytes of one, about
	held           = 40     // found tools that are offered at the same time
	hits           = 8      // tools of one answer
	listed         = 6000   // bytes of names in the finder's description
)

// OfferedTool is a tool as it is described to a model.
type OfferedTool struct {
	Name   string
	From   string // the program that serves it
	About  string
	Schema json.RawMessage
	Reads  bool
}

// size is the size of a tool in a request, in bytes.
func (t OfferedTool) size() int { return len(t.Name) + len(t.About) + len(t.Schema) + 40 }

// Offer is the list of lent tools that one agent is offered. The zero value offers nothing. It is safe for concurrent
// use.
type Offer struct {
	mu    sync.Mutex
	turn  int64
	begun bool
	all   []OfferedTool
	few   bool     // all are offered
	found []string // else these, in the order they were found
}

// Turn offers the tools that there returns, until the next turn; it calls there once for each turn. window is the
// model's, in tokens; 0: unknown.
func (s *Offer) Turn(turn int64, window int, there func() []OfferedTool) {
	s.mu.Lock()
	same := s.begun && s.turn == turn
	s.mu.Unlock()
	if same {
		return
	}
	all, size, may := there(), 0, maxOfferTokens
	for _, t := range all {
		size += t.size()
	}
	if window > 0 {
		may = min(may, window/share)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn, s.begun, s.all, s.few = turn, true, all, size/token <= may
}

// Offers are the tools that are offered now.
func (s *Offer) Offers() (all []OfferedTool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.few || len(s.all) == 0 {
		return s.all
	}
	all = append(all, s.finder())
	for _, name := range s.found { // at the end: the tools before keep their place in the model's cache
		if i := slices.IndexFunc(s.all, func(t OfferedTool) bool { return t.Name == name }); i >= 0 {
			all = append(all, s.all[i])
		}
	}
	return all
}

// short is a tool's name without its program's, which ends in two underscores.
func short(name string) string {
	program, tool, parted := strings.Cut(name, "__")
	if _, rest, more := strings.Cut(tool, "__"); more && program == "mcp" {
		return rest
	}
	if parted {
		return tool
	}
	return name
}

// finder is the tool that finds others. The caller holds the mutex.
func (s *Offer) finder() OfferedTool {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(findToolText) + "\n\nThe programs and their tools:")
	var froms []string
	of := map[string][]string{}
	for _, t := range s.all {
		if of[t.From] == nil {
			froms = append(froms, t.From)
		}
		of[t.From] = append(of[t.From], short(t.Name))
	}
	for _, f := range froms {
		line := fmt.Sprintf("\n- %s, %d tools: %s", f, len(of[f]), strings.Join(of[f], ", "))
		if room := listed / len(froms); len(line) > room {
			line = strings.ToValidUTF8(line[:room], "") + " …"
		}
		b.WriteString(line)
	}
	return OfferedTool{
		Name: FindTool, About: b.String(), Reads: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"Words of what the tool is to do, or its name"}},"required":["query"],"additionalProperties":false}`),
	}
}

// Find offers the tools that fit best from the next request on, and names them.
func (s *Offer) Find(query string) string {
	words := strings.FieldsFunc(strings.ToLower(query), func(c rune) bool { return strings.ContainsRune(" ,;._-/\"'\n\t", c) })
	type hit struct {
		OfferedTool
		fits int
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []hit
	for _, t := range s.all {
		fits, name, about := 0, strings.ToLower(t.Name), strings.ToLower(t.About)
		for _, w := range words {
			if strings.Contains(name, w) {
				fits += 3
			}
			if strings.Contains(about, w) {
				fits++
			}
		}
		if strings.EqualFold(strings.TrimSpace(query), t.Name) {
			fits += 1000
		}
		if fits > 0 {
			all = append(all, hit{t, fits})
		}
	}
	if len(all) == 0 {
		return "No tool fits. Try other words, or the name of a program."
	}
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Compare(b.fits, a.fits) })
	var b strings.Builder
	b.WriteString("From your next message on you can call:")
	for _, t := range all[:min(hits, len(all))] {
		about := strings.Join(strings.Fields(t.About), " ")
		if len(about) > 300 {
			about = strings.ToValidUTF8(about[:300], "") + "…"
		}
		fmt.Fprintf(&b, "\n- %s: %s", t.Name, about)
		if !slices.Contains(s.found, t.Name) {
			s.found = append(s.found, t.Name)
		}
	}
	if over := len(s.found) - held; over > 0 {
		s.found = slices.Delete(s.found, 0, over)
	}
	return b.String()
}
