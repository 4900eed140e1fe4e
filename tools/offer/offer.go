// Package offer says which of many tools of other programs a model is told of.
//
// Does: offer all of them while they take little of its window; else a tool that finds them, and what it found. What is
// offered stays as it is for a turn, but for what is found.
//
// Does not: know where tools come from, call them, or say what may be called.
//
// Imports: .
package offer

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
var text string

// Name is the name of the tool that finds tools.
const Name = "find_tool"

const (
	share  = 10     // the part of a window that tools may take
	most   = 20_000 // tokens that they may take at most
	token  = 4      // bytes of one, about
	held   = 40     // tools that are found and offered at once
	hits   = 8      // tools of one answer
	listed = 6000   // bytes of names in what the finder says of itself
)

// Tool is a tool as a model is told of it.
type Tool struct {
	Name   string
	From   string // the program that serves it
	About  string
	Schema json.RawMessage
	Reads  bool
}

// size is what a tool takes in a request, in bytes.
func (t Tool) size() int { return len(t.Name) + len(t.About) + len(t.Schema) + 40 }

// Shelf is what one agent is offered. The zero value offers nothing. It is safe for concurrent use.
type Shelf struct {
	mu    sync.Mutex
	turn  int64
	begun bool
	all   []Tool
	few   bool     // all are offered
	found []string // else these, in the order of finding
}

// Turn has what there is now be offered until the next turn; there is called once for each. window is the model's, in
// tokens; 0: not known.
func (s *Shelf) Turn(turn int64, window int, there func() []Tool) {
	s.mu.Lock()
	same := s.begun && s.turn == turn
	s.mu.Unlock()
	if same {
		return
	}
	all, size, may := there(), 0, most
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
func (s *Shelf) Offers() (all []Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.few || len(s.all) == 0 {
		return s.all
	}
	all = append(all, s.finder())
	for _, name := range s.found { // after what was there, so that what is cached stays
		if i := slices.IndexFunc(s.all, func(t Tool) bool { return t.Name == name }); i >= 0 {
			all = append(all, s.all[i])
		}
	}
	return all
}

// finder is the tool that finds others. The caller has the mutex.
func (s *Shelf) finder() Tool {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(text) + "\n\nThe programs and their tools:")
	var froms []string
	of := map[string][]string{}
	for _, t := range s.all {
		if of[t.From] == nil {
			froms = append(froms, t.From)
		}
		of[t.From] = append(of[t.From], t.Name[strings.LastIndex(t.Name, "__")+2:])
	}
	for _, f := range froms {
		line := fmt.Sprintf("\n- %s, %d tools: %s", f, len(of[f]), strings.Join(of[f], ", "))
		if room := listed / len(froms); len(line) > room {
			line = strings.ToValidUTF8(line[:room], "") + " …"
		}
		b.WriteString(line)
	}
	return Tool{
		Name: Name, About: b.String(), Reads: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"Words of what the tool is to do, or its name"}},"required":["query"],"additionalProperties":false}`),
	}
}

// Find offers the tools that fit best from the next request on, and says which they are.
func (s *Shelf) Find(query string) string {
	words := strings.FieldsFunc(strings.ToLower(query), func(c rune) bool { return strings.ContainsRune(" ,;._-/\"'\n\t", c) })
	type hit struct {
		Tool
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
