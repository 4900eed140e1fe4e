package mcpconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents/hooks"
	"fantail/store/config"
	"fantail/tools/mcp"
)

const shared = `{"mcpServers": {
"local": {"command": "node", "args": ["server.js", "${DIR}", "--key=${GITHUB_TOKEN}"], "env": {"NODE_OPTIONS": "--require ./hook.js", "T": "${GITHUB_TOKEN}", "H": "${HARMLESS}"}},
"far": {"type": "http", "url": "https://x.example/${DIR}", "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}}
}}`

func server(t *testing.T, r *Servers, name string) mcp.Server {
	t.Helper()
	for _, s := range r.Servers() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no server %s: %q", name, said(r.List()))
	return mcp.Server{}
}

func agree(t *testing.T, p *place, r *Servers) {
	t.Helper()
	for _, v := range p.book.Review() {
		p.must(p.book.Agree(v.TrustSnapshot))
	}
}

// A workspace's server starts only as it was agreed to: another configuration, a script that it names, a preloaded
// file and variables in its command line ask again; a renewed secret does not.
func TestAllowed(t *testing.T) {
	p := newPlace(t, shared, "")
	p.write(p.root, "server.js", "one")
	p.write(p.root, "hook.js", "one")
	r := p.servers()
	may := func(when, name, want string) {
		t.Helper()
		err := r.Allowed(server(t, r, name))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %s: %v, want %q", when, name, err, want)
		}
	}
	may("at first", "local", "not trusted yet: /trust")
	may("at first", "far", "not trusted yet")
	agree(t, p, r)
	may("agreed", "local", "")
	may("agreed", "far", "")
	for _, name := range []string{"server.js", "hook.js"} {
		p.write(p.root, name, "two")
		may(name+" changed", "local", "changed since")
		may(name+" changed", "far", "")
		p.write(p.root, name, "one")
		may(name+" is back", "local", "")
	}
	p.write(p.root, ".mcp.json", strings.Replace(shared, "server.js", "other.js", 1))
	may("another script", "local", "changed since")
	may("another script", "far", "")
	p.write(p.root, ".mcp.json", strings.Replace(shared, `"H": "`, `"H": "--`, 1))
	may("another environment", "local", "changed since")
	p.write(p.root, ".mcp.json", strings.Replace(shared, "x.example", "evil.example", 1))
	may("another host", "far", "changed since")
	may("another host", "local", "")
	p.write(p.root, ".mcp.json", shared)
	p.env["GITHUB_TOKEN"] = "ghp-another"
	r = p.servers()
	may("a renewed token", "local", "")
	if s := server(t, r, "local"); s.Args[2] != "--key=ghp-another" || s.Env["T"] != "ghp-another" {
		t.Errorf("%+v", s)
	}
	p.env["DIR"] = "elsewhere"
	r = p.servers()
	may("another variable", "local", "changed since")
	may("another variable", "far", "changed since")
}

// TestAllowed_stale: a server that was returned earlier is allowed only as long as the files still say the same.
func TestAllowed_stale(t *testing.T) {
	p := newPlace(t, shared, "")
	r := p.servers()
	agree(t, p, r)
	was := server(t, r, "far")
	p.write(p.root, ".mcp.json", strings.Replace(shared, "x.example", "evil.example", 1))
	if err := r.Allowed(was); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("%v", err)
	}
	p.must(os.Remove(filepath.Join(p.root, ".mcp.json")))
	if err := r.Allowed(was); err == nil {
		t.Error("it may start though nothing configures it")
	}
	was.Own = true
	if err := r.Allowed(was); err == nil {
		t.Error("it says of itself that it is the user's")
	}
	p.rows = []config.Server{{Name: "far", ServerRow: config.ServerRow{Command: "x"}}}
	if err := r.Allowed(server(t, r, "far")); err != nil {
		t.Errorf("the user's own: %v", err)
	}
	var none *Servers
	if none.Allowed(was) == nil || len(none.Servers()) != 0 {
		t.Error("nil has servers")
	}
}

// The question shows everything that affects what runs, and no secret.
func TestParts(t *testing.T) {
	p := newPlace(t, shared, "")
	parts := p.servers().parts()
	if len(parts) != 2 || parts[0].Kind != Kind || parts[0].Name != ".mcp.json local" {
		t.Fatalf("%+v", parts)
	}
	want := `starts: node server.js ${DIR} --key=${GITHUB_TOKEN}
  with H=${HARMLESS}
  with NODE_OPTIONS='--require ./hook.js'
  with T=${GITHUB_TOKEN}
  where now DIR is sub
  it is handed what these variables of yours hold: GITHUB_TOKEN, HARMLESS
`
	if parts[0].Text != want {
		t.Errorf("%s", parts[0].Text)
	}
	if got := parts[0].Commands[0]; !strings.HasSuffix(got, `'node' 'server.js' 'sub' '--key=${GITHUB_TOKEN}'`) {
		t.Errorf("%s", got)
	}
	want = `connects to: https://x.example/${DIR}
  with the header Authorization: Bearer ${GITHUB_TOKEN}
  where now DIR is sub
  it is handed what these variables of yours hold: GITHUB_TOKEN
`
	if parts[1].Text != want || len(parts[1].Commands) != 0 {
		t.Errorf("%s", parts[1].Text)
	}
	p.write(p.root, ".mcp.json", `{"mcpServers": {"x": {"command": "sh", "args": ["-c", "a\n  with B=c\u001b[2J", "it's", ""]}}}`)
	if got := p.servers().parts()[0].Text; got != `starts: sh -c "a\n  with B=c\x1b[2J" 'it'\''s' ""`+"\n" {
		t.Errorf("%s", got)
	}
}

// Files are read again when they changed, and only then.
func TestList_again(t *testing.T) {
	p := newPlace(t, `{"mcpServers": {"a": {"command": "x"}}}`, "")
	r := p.servers()
	count := func(want int) {
		t.Helper()
		if got := len(r.List().Entries); got != want {
			t.Errorf("%d entries, want %d", got, want)
		}
	}
	count(1)
	p.write(p.home, ".claude.json", `{"mcpServers": {"b": {"command": "x"}}}`)
	count(2)
	p.must(os.Chtimes(filepath.Join(p.home, ".claude.json"), time.Unix(1, 0), time.Unix(1, 0)))
	count(2)
	was := r.List()
	p.must(os.WriteFile(filepath.Join(p.home, ".claude.json"), []byte(strings.Replace(`{"mcpServers": {"b": {"command": "x"}}}`, "x", "y", 1)), 0o600))
	p.must(os.Chtimes(filepath.Join(p.home, ".claude.json"), time.Unix(1, 0), time.Unix(1, 0)))
	if is := r.List(); is.Entries[0].Command != was.Entries[0].Command {
		t.Error("a file was read again whose stamp is the same")
	}
	p.must(os.Remove(filepath.Join(p.home, ".claude.json")))
	count(1)
	p.rows = []config.Server{{Name: "c", ServerRow: config.ServerRow{Command: "x"}}}
	count(2)
}

// TestAllowed_noBook: without a usable trust file nothing is trusted.
func TestAllowed_noBook(t *testing.T) {
	p := newPlace(t, shared, "")
	p.book = nil
	r := p.servers()
	if err := r.Allowed(server(t, r, "far")); err == nil {
		t.Errorf("%v", err)
	}
	var _ []hooks.TrustPart = r.parts()
}

// FuzzRead: whatever a file contains, none of its servers counts as the user's own, has an invalid name or address, or
// contains one of our keys or control characters.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		shared, `{"mcpServers": {"a": {"command": "x", "args": ["${ANTHROPIC_API_KEY}"], "honest": true}}}`, "{", `{"mcpServers":{"a":{"url":"https://x","headers":{"A":"\n"}}}}`,
		`{"mcpServers": {"a": {"command": "` + "\u202e" + `x", "env": {"A": "${COPY:-b}"}}}, "mcpServers": {"b": {}}}`, "\ufeff{}", `{"mcpServers":1}`, `{"a":[[{"`, `{"mcpServers":{"a":{"command":"${${DIR}}"}}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := newPlace(t, text, "")
		l := p.servers().List()
		for _, e := range l.Entries {
			if e.Own || e.Honest || e.Timeout != 0 {
				t.Fatalf("%q sets %+v", text, e.Server)
			}
			if !e.Used() {
				continue
			}
			if config.ServerName(e.Name) != nil || (e.Command == "") == (e.URL == "") {
				t.Fatalf("%q is used: %+v", text, e.Server)
			}
			all := strings.Join(e.Args, " ") + e.Command + e.URL
			for k, v := range e.Env {
				all += k + v
			}
			for k, v := range e.Headers {
				all += k + v
				if config.Header(k, v) != nil {
					t.Fatalf("%q: %+v", text, e.Headers)
				}
			}
			if strings.Contains(all, "sk-ant-0123456789") {
				t.Fatalf("%q is handed a key", text)
			}
		}
		for _, part := range l.Parts() {
			if steers(strings.ReplaceAll(part.Text, "\n", "")) {
				t.Fatalf("%q: %q", text, part.Text)
			}
		}
		for _, x := range append(l.Faults, l.Ignored...) {
			if steers(x.Text) {
				t.Fatalf("%q: %q", text, x.Text)
			}
		}
	})
}

func steers(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e })
}

// BenchmarkScan scans a large file of Claude Code's.
func BenchmarkScan(b *testing.B) {
	text := `{"history": [` + strings.Repeat(`{"display": "do this and that", "pasted": {}, "n": [1, 2, 3]},`, 80_000) + `0], "mcpServers": {"mine": {"command": "x"}}}`
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if all, _, err := scan(strings.NewReader(text), "mcpServers", maxBlock); err != nil || len(all) != 2 {
			b.Fatal(err, len(all))
		}
	}
}
