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

	"fantail/tools/files"
	"fantail/tools/validjson"
)

const (
	maxRecords     = 32 << 20 // bytes of the file
	maxDescription = 8 << 10  // bytes of a description
	maxSchema      = 64 << 10 // bytes of a schema
	maxEntries     = 2 * maxTools
)

// toolDescription is a server's description of a tool.
type toolDescription struct {
	Name        string          `json:"name"`
	Description string          `json:"about,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	ReadOnly    bool            `json:"reads,omitempty"` // the readOnlyHint
}

// hash identifies a description. It includes the read-only hint, because where the hint is trusted,
// changing it matters.
func (d toolDescription) hash() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %s %v", d.Name, d.Description, d.Schema, d.ReadOnly))
	return hex.EncodeToString(h[:])
}

// displayText returns the description for people.
func (d toolDescription) displayText() string {
	var b bytes.Buffer
	b.WriteString(strings.TrimSpace(plainText(d.Description)) + "\n")
	if d.ReadOnly {
		b.WriteString("It only reads.\n")
	}
	if json.Indent(&b, d.Schema, "", "  ") != nil {
		b.Write(d.Schema)
	}
	return plainText(b.String()) + "\n"
}

// toolRecord is a saved tool.
type toolRecord struct {
	Current toolDescription  `json:"is"`
	Agreed  *toolDescription `json:"was,omitempty"`  // in effect until the user agrees to Current; nil: Current is in effect
	Removed bool             `json:"gone,omitempty"` // the server no longer has it
}

// effective returns the description for models: the one to which the user agreed.
func (e toolRecord) effective() toolDescription {
	if e.Agreed != nil {
		return *e.Agreed
	}
	return e.Current
}

// serverRecord is what is known of a server's tools, as saved.
type serverRecord struct {
	Fingerprint string       `json:"mark"` // of its configuration then
	Tools       []toolRecord `json:"tools"`

	Resources bool     `json:"resources,omitempty"` // it has resources
	Prompts   []Prompt `json:"prompts,omitempty"`
}

// toolCount returns the number of tools that the server has.
func (k *serverRecord) toolCount() (n int) {
	for _, e := range k.Tools {
		if !e.Removed {
			n++
		}
	}
	return n
}

// recordsPath returns the file of the records, or "" if nothing is saved.
func (r *Servers) recordsPath() string {
	if r.o.Dir == "" {
		return ""
	}
	return filepath.Join(r.o.Dir, "tools.json")
}

// loadRecords reads the saved records.
func (r *Servers) loadRecords() {
	if r.recordsPath() == "" {
		return
	}
	b, err := files.ReadOwn(r.recordsPath(), maxRecords)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	kept := map[string]*serverRecord{}
	if err == nil {
		err = json.Unmarshal(b, &kept)
	}
	if err != nil {
		r.reportTrouble(fmt.Errorf("read what MCP servers said of their tools (%s), so what they say now holds: %w", r.recordsPath(), err))
		return
	}
	maps.DeleteFunc(kept, func(_ string, k *serverRecord) bool { return k == nil })
	for _, k := range kept {
		k.mendSchemas()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = kept
}

// mendSchemas repairs schemas that were saved before schemas were repaired on arrival. The user's
// agreement stays valid.
func (k *serverRecord) mendSchemas() {
	for n := range k.Tools {
		e := &k.Tools[n]
		for _, d := range []*toolDescription{&e.Current, e.Agreed} {
			if d == nil {
				continue
			}
			of, err := arguments(d.Schema)
			e.Removed = e.Removed || err != nil
			if err == nil {
				d.Schema, _ = json.Marshal(of)
			}
		}
		if e.Agreed != nil && e.Agreed.hash() == e.Current.hash() {
			e.Agreed = nil
		}
	}
}

// saveRecords saves the records as they are when it writes them.
func (r *Servers) saveRecords() {
	if r.recordsPath() == "" {
		return
	}
	r.saveMu.Lock()
	defer r.saveMu.Unlock()
	r.mu.Lock()
	b, err := json.Marshal(r.records)
	r.mu.Unlock()
	if err == nil && len(b) > maxRecords {
		err = errors.New("it is too much")
	}
	if err == nil {
		err = files.WriteOwn(r.recordsPath(), b, 0o600)
	}
	if err != nil {
		r.reportTrouble(fmt.Errorf("keep what MCP servers say of their tools: %w", err))
	}
}

// describeTool returns the description of a tool, or an error if models can't use the tool.
func describeTool(t *mcp.Tool) (d toolDescription, err error) {
	d = toolDescription{Name: t.Name, Description: strings.TrimSpace(validjson.Text(t.Description))}
	if t.Name == "" || len(t.Name) > 200 {
		return d, errors.New("it has no name, or too long a one")
	}
	if len(d.Description) > maxDescription {
		d.Description = strings.ToValidUTF8(d.Description[:maxDescription], "") + " …"
	}
	d.ReadOnly = t.Annotations != nil && t.Annotations.ReadOnlyHint
	of, err := arguments(t.InputSchema)
	if err != nil {
		return d, err
	}
	d.Schema, err = json.Marshal(of)
	if err == nil && len(d.Schema) > maxSchema {
		err = fmt.Errorf("its schema has %d bytes", len(d.Schema))
	}
	return d, err
}

// recordTools records the tools of a server. A changed description takes effect once the user has agreed.
func (r *Servers) recordTools(l *managedServer, v *runningServer, all []*mcp.Tool) {
	var tools []toolDescription
	seen := map[string]bool{}
	for _, t := range all {
		d, err := describeTool(t)
		if err == nil && seen[d.Name] {
			err = errors.New("another one has its name")
		}
		if err != nil {
			l.logLine(fmt.Sprintf("its tool %.100q is left out: %v", t.Name, err))
			continue
		}
		seen[d.Name] = true
		tools = append(tools, d)
	}
	r.mu.Lock()
	k := r.records[l.server.Name]
	if k == nil {
		k = &serverRecord{}
	}
	now := serverRecord{Fingerprint: l.fingerprint, Resources: v.capabilities().Resources != nil, Prompts: v.prompts}
	changed := k.Fingerprint != l.fingerprint || k.Resources != now.Resources || !reflect.DeepEqual(k.Prompts, now.Prompts)
	for _, d := range tools {
		e := toolRecord{Current: d}
		if i := slices.IndexFunc(k.Tools, func(e toolRecord) bool { return e.Current.Name == d.Name }); i >= 0 {
			was := k.Tools[i].effective()
			if was.hash() != d.hash() {
				e.Agreed = &was
			}
			changed = changed || k.Tools[i].Removed || k.Tools[i].Current.hash() != d.hash()
		} else {
			changed = true
		}
		now.Tools = append(now.Tools, e)
	}
	for _, e := range k.Tools { // a tool that returns is compared with its old description
		if !seen[e.Current.Name] && len(now.Tools) < maxEntries {
			changed = changed || !e.Removed
			e.Removed = true
			now.Tools = append(now.Tools, e)
		}
	}
	if changed {
		r.records[l.server.Name] = &now
		r.version++
	}
	r.mu.Unlock()
	if changed {
		r.saveRecords()
	}
}

// currentDescription returns the server's current description of a tool; false: it has no such
// tool.
func (r *Servers) currentDescription(server, tool string) (toolDescription, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.records[server]; k != nil {
		for _, e := range k.Tools {
			if e.Current.Name == tool && !e.Removed {
				return e.Current, true
			}
		}
	}
	return toolDescription{}, false
}

// acceptDescription puts a description into effect, if it is still the one that was shown.
func (r *Servers) acceptDescription(server string, d toolDescription) {
	r.mu.Lock()
	changed := false
	if k := r.records[server]; k != nil {
		now := *k
		now.Tools = slices.Clone(k.Tools)
		for i, e := range now.Tools {
			if e.Current.Name == d.Name && e.Agreed != nil && e.Current.hash() == d.hash() {
				now.Tools[i].Agreed, changed = nil, true
			}
		}
		r.records[server] = &now
	}
	if changed {
		r.version++
	}
	r.mu.Unlock()
	if changed {
		r.saveRecords()
	}
}

// diff returns the changes of a tool's description to which the user has not agreed yet.
func (e toolRecord) diff() string {
	if e.Agreed == nil {
		return ""
	}
	return files.Diff("what is said of "+e.Current.Name, e.Agreed.displayText(), e.Current.displayText())
}
