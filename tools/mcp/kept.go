package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/content"
	"fantail/tools/ownfile"
)

const (
	mostKept    = 32 << 20 // bytes of the file
	mostAbout   = 8 << 10  // bytes of a description
	mostSchema  = 64 << 10 // bytes of a schema
	mostEntries = 2 * mostTools
)

// described is what a server says of a tool.
type described struct {
	Name   string          `json:"name"`
	About  string          `json:"about,omitempty"`
	Schema json.RawMessage `json:"schema"`
	Reads  bool            `json:"reads,omitempty"` // it only reads, the server says
}

// sum tells a description from others. What a server says of reading decides nothing where it is not believed, and
// where it is a change of that is one.
func (d described) sum() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %s %v", d.Name, d.About, d.Schema, d.Reads))
	return hex.EncodeToString(h[:])
}

// text is the description as people read it.
func (d described) text() string {
	var b bytes.Buffer
	b.WriteString(strings.TrimSpace(plain(d.About)) + "\n")
	if d.Reads {
		b.WriteString("It only reads.\n")
	}
	if json.Indent(&b, d.Schema, "", "  ") != nil {
		b.Write(d.Schema)
	}
	return plain(b.String()) + "\n"
}

// entry is a tool as it is kept.
type entry struct {
	Is   described  `json:"is"`
	Was  *described `json:"was,omitempty"`  // what holds as long as nobody agreed to what it is; nil: that does
	Gone bool       `json:"gone,omitempty"` // the server has it no more
}

// holds is the description that models get.
func (e entry) holds() described {
	if e.Was != nil {
		return *e.Was
	}
	return e.Is
}

// record is what is kept of a server.
type record struct {
	Mark  string  `json:"mark"` // of the server as it was then
	Tools []entry `json:"tools"`

	Resources bool     `json:"resources,omitempty"` // it has some
	Prompts   []Prompt `json:"prompts,omitempty"`
}

// count is how many tools it has.
func (k *record) count() (n int) {
	for _, e := range k.Tools {
		if !e.Gone {
			n++
		}
	}
	return n
}

// path is the file; "": nothing is kept.
func (r *Room) path() string {
	if r.o.Dir == "" {
		return ""
	}
	return filepath.Join(r.o.Dir, "tools.json")
}

// load reads what was kept.
func (r *Room) load() {
	if r.path() == "" {
		return
	}
	b, err := ownfile.Read(r.path(), mostKept)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	kept := map[string]*record{}
	if err == nil {
		err = json.Unmarshal(b, &kept)
	}
	if err != nil {
		r.trouble(fmt.Errorf("read what MCP servers said of their tools (%s), so what they say now holds: %w", r.path(), err))
		return
	}
	maps.DeleteFunc(kept, func(_ string, k *record) bool { return k == nil })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = kept
}

// save writes down what is kept. One writer at a time writes what holds then.
func (r *Room) save() {
	if r.path() == "" {
		return
	}
	r.saving.Lock()
	defer r.saving.Unlock()
	r.mu.Lock()
	b, err := json.Marshal(r.kept)
	r.mu.Unlock()
	if err == nil && len(b) > mostKept {
		err = errors.New("it is too much")
	}
	if err == nil {
		err = ownfile.Write(r.path(), b, 0o600)
	}
	if err != nil {
		r.trouble(fmt.Errorf("keep what MCP servers say of their tools: %w", err))
	}
}

// describe is what a server says of a tool, as it can be handed to models; the error says why it can't.
func describe(t *mcp.Tool) (d described, err error) {
	d = described{Name: t.Name, About: strings.TrimSpace(strings.ToValidUTF8(t.Description, "\uFFFD"))}
	if t.Name == "" || len(t.Name) > 200 {
		return d, errors.New("it has no name, or too long a one")
	}
	if len(d.About) > mostAbout {
		d.About = strings.ToValidUTF8(d.About[:mostAbout], "") + " …"
	}
	d.Reads = t.Annotations != nil && t.Annotations.ReadOnlyHint
	schema, is := t.InputSchema.(map[string]any)
	if t.InputSchema != nil && !is {
		return d, errors.New("its schema is no object")
	}
	schema = maps.Clone(schema)
	if schema == nil {
		schema = map[string]any{}
	}
	if of, said := schema["type"]; said && of != "object" {
		return d, errors.New("its arguments are no object")
	}
	schema["type"] = "object"
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	for _, word := range []string{"$schema", "$id", "oneOf", "anyOf", "allOf"} { // models' servers refuse them there; the server judges all the same
		delete(schema, word)
	}
	d.Schema, err = json.Marshal(schema)
	if err == nil && len(d.Schema) > mostSchema {
		err = fmt.Errorf("its schema has %d bytes", len(d.Schema))
	}
	return d, err
}

// listed keeps which tools a server has. What it says anew of one that is known does not hold before the user agreed.
func (r *Room) listed(l *link, v *live, all []*mcp.Tool) {
	var tools []described
	seen := map[string]bool{}
	for _, t := range all {
		d, err := describe(t)
		if err == nil && seen[d.Name] {
			err = errors.New("another one has its name")
		}
		if err != nil {
			l.noted(fmt.Sprintf("its tool %.100q is left out: %v", t.Name, err))
			continue
		}
		seen[d.Name] = true
		tools = append(tools, d)
	}
	r.mu.Lock()
	k := r.kept[l.server.Name]
	if k == nil {
		k = &record{}
	}
	now := record{Mark: l.mark, Resources: v.has().Resources != nil, Prompts: v.offers}
	changed := k.Mark != l.mark || k.Resources != now.Resources || !reflect.DeepEqual(k.Prompts, now.Prompts)
	for _, d := range tools {
		e := entry{Is: d}
		if i := slices.IndexFunc(k.Tools, func(e entry) bool { return e.Is.Name == d.Name }); i >= 0 {
			was := k.Tools[i].holds()
			if was.sum() != d.sum() {
				e.Was = &was
			}
			changed = changed || k.Tools[i].Gone || k.Tools[i].Is.sum() != d.sum()
		} else {
			changed = true
		}
		now.Tools = append(now.Tools, e)
	}
	for _, e := range k.Tools { // one that comes back is held against what it was
		if !seen[e.Is.Name] && len(now.Tools) < mostEntries {
			changed = changed || !e.Gone
			e.Gone = true
			now.Tools = append(now.Tools, e)
		}
	}
	if changed {
		r.kept[l.server.Name] = &now
		r.version++
	}
	r.mu.Unlock()
	if changed {
		r.save()
	}
}

// known is what a server says now of a tool that it has.
func (r *Room) known(server, tool string) (described, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.kept[server]; k != nil {
		for _, e := range k.Tools {
			if e.Is.Name == tool && !e.Gone {
				return e.Is, true
			}
		}
	}
	return described{}, false
}

// agree has what a server says of a tool hold, as it was shown.
func (r *Room) agree(server string, d described) {
	r.mu.Lock()
	changed := false
	if k := r.kept[server]; k != nil {
		now := *k
		now.Tools = slices.Clone(k.Tools)
		for i, e := range now.Tools {
			if e.Is.Name == d.Name && e.Was != nil && e.Is.sum() == d.sum() {
				now.Tools[i].Was, changed = nil, true
			}
		}
		r.kept[server] = &now
	}
	if changed {
		r.version++
	}
	r.mu.Unlock()
	if changed {
		r.save()
	}
}

// diff shows what a server says anew of a tool.
func (e entry) diff() string {
	if e.Was == nil {
		return ""
	}
	return content.Diff("what is said of "+e.Is.Name, e.Was.text(), e.Is.text())
}
