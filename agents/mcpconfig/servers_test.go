package mcpconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/hooks"
	"fantail/store/config"
	"fantail/tools/secret"
)

// a place to read from: a workspace, a home, and an environment.
type place struct {
	t          *testing.T
	root, home string
	rows       []config.Server
	env        map[string]string
	book       *hooks.TrustStore
}

func newPlace(t *testing.T, project, claude string) *place {
	t.Helper()
	p := &place{t: t, root: t.TempDir(), home: t.TempDir(), env: map[string]string{
		"GITHUB_TOKEN": "ghp-0123456789", "DIR": "sub", "EMPTY": "", "ANTHROPIC_API_KEY": "sk-ant-0123456789", "COPY": "x sk-ant-0123456789 y", "HARMLESS": "yes",
	}}
	if project != "" {
		p.write(p.root, ".mcp.json", project)
	}
	if claude != "" {
		p.write(p.home, ".claude.json", claude)
	}
	var err error
	p.book, err = hooks.OpenTrust(p.root, t.TempDir())
	p.must(err)
	return p
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) write(dir, name, text string) {
	p.t.Helper()
	p.must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func (p *place) servers() *Servers {
	return New(Settings{
		Root: p.root, Home: p.home, Trust: p.book, Config: func() []config.Server { return p.rows },
		Env:  func(name string) (string, bool) { v, set := p.env[name]; return v, set },
		Keys: secret.New([]string{"ANTHROPIC_API_KEY"}, func(name string) string { return p.env[name] }),
	})
}

// said returns a listing as text, a line for each entry.
func said(l Listing) (lines []string) {
	for _, e := range l.Entries {
		line := e.Place + " " + e.Name + ": " + e.Line()
		if e.Out != "" {
			line += " (" + e.Out + ")"
		}
		lines = append(lines, line)
	}
	for _, f := range l.Faults {
		lines = append(lines, "! "+f.String())
	}
	for _, f := range l.Ignored {
		lines = append(lines, "- "+f.String())
	}
	return lines
}

// wants compares a listing with lines that begin with, or contain, the wanted text.
func wants(t *testing.T, l Listing, want ...string) {
	t.Helper()
	got := said(l)
	bad := len(got) != len(want)
	for n := range min(len(got), len(want)) {
		bad = bad || !strings.Contains(got[n], want[n])
	}
	if bad {
		t.Errorf("got:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// Typical real files are read as they are.
func TestRead_real(t *testing.T) {
	p := newPlace(t, `{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "./docs"],
      "env": {}
    },
    "git-hub_2": {
      "type": "http",
      "url": "https://api.example.com/mcp/",
      "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Mode": "${MODE:-read only}"}
    },
    "stream": {"type": "streamable-http", "url": "http://127.0.0.1:3000/mcp"},
    "bare": {"url": "https://docs.example.com/mcp"},
    "db": {"type": "stdio", "command": "${HOME_BIN:-/opt}/db-server", "args": [], "env": {"DB": "file:${DIR}/a.db", "NONE": "${EMPTY:-}"}}
  }
}`, "")
	l := p.servers().List()
	wants(
		t, l, ".mcp.json:3:5 filesystem: npx -y @modelcontextprotocol/server-filesystem ./docs",
		".mcp.json:8:5 git-hub_2: https://api.example.com/mcp/", ".mcp.json:13:5 stream: http://127.0.0.1:3000/mcp",
		"bare: https://docs", "db: ${HOME_BIN:-/opt}/db-server",
	)
	e, _ := l.Find("git-hub_2")
	if e.Headers["Authorization"] != "Bearer ghp-0123456789" || e.Headers["X-Mode"] != "read only" || e.Own || e.URL == "" || e.Command != "" {
		t.Errorf("%+v", e.Server)
	}
	if e, _ = l.Find("db"); e.Command != "/opt/db-server" || e.Env["DB"] != "file:sub/a.db" || e.Env["NONE"] != "" {
		t.Errorf("%+v", e.Server)
	}
}

// TestRead_faults: mistakes are reported with their place, and the rest works.
func TestRead_faults(t *testing.T) {
	for entry, want := range map[string]string{
		`"old": {"type": "sse", "url": "https://x/sse"}`: `! .mcp.json:1:33: old: type "sse" is not spoken`,
		`"ws": {"type": "ws", "url": "https://x"}`:       "type ws is not spoken",
		`"none": {}`: "there is neither",
		`"both": {"command": "x", "url": "https://x"}`: "exclude each other",
		`"noc": {"type": "stdio", "url": "https://x"}`: "there is no command",
		`"nou": {"type": "http", "command": "x"}`:      "there is no url",
		`"list": ["x"]`:                                                                 "an object { } was expected",
		`"num": {"command": 7}`:                                                         "command: a text was expected",
		`"nul": {"command": null}`:                                                      "there is neither",
		`"argt": {"command": "x", "args": "-y"}`:                                        "args: a list of texts",
		`"argn": {"command": "x", "args": [[1]]}`:                                       "args: a list of texts",
		`"envl": {"command": "x", "env": ["A=b"]}`:                                      "object { }",
		`"envn": {"command": "x", "env": {"A": [1]}}`:                                   "env.A: a text",
		`"envx": {"command": "x", "env": {"A B": "1"}}`:                                 "A B is no name of a variable",
		`"esc": {"command": "x\u001b[2J"}`:                                              "holds what no program",
		`"zero": {"command": "x", "args": ["a\u0000b"]}`:                                "holds what no program",
		`"hdr": {"url": "https://x", "headers": {"A": "b\r\nC: d"}}`:                    "one line of text",
		`"hdn": {"url": "https://x", "headers": {"A b": "c"}}`:                          "no name of a header",
		`"ftp": {"url": "ftp://x/"}`:                                                    "want a URL",
		`"user": {"url": "https://u:p@x/"}`:                                             "must not hold a user",
		`"gone": {"command": "x", "args": ["${NOT_SET}"]}`:                              "the variable NOT_SET is not set",
		`"input": {"command": "x", "args": ["${input:token}"]}`:                         "${input:token} names no variable",
		`"open": {"command": "x", "args": ["${DIR"]}`:                                   "not closed",
		`"blank": {"command": "${EMPTY}"}`:                                              "command: it is empty",
		`"ours": {"command": "x", "env": {"K": "${ANTHROPIC_API_KEY}"}}`:                "ANTHROPIC_API_KEY is for models' providers",
		`"ours2": {"url": "https://x", "headers": {"K": "${ANTHROPIC_API_KEY:-none}"}}`: "ANTHROPIC_API_KEY is for models' providers",
		`"ours3": {"command": "x", "args": ["${COPY}"]}`:                                "COPY is for models' providers",
		`"ours4": {"command": "x", "args": ["${OPENAI_BASE:-a}"]}`:                      "OPENAI_BASE is for models' providers",
		`"": {"command": "x"}`:                                                          "a server's name is",
		`"a\u001b[31m": {"command": "x"}`:                                               `"a\x1b[31m": a server's name holds`,
		`"` + strings.Repeat("n", 1001) + `": {"command": "x"}`:                         "a server's name has at most",
		`"git` + "\u200d" + `hub": {"command": "x"}`:                                    "nothing that can't be seen",
		`"long": {"command": "x", "args": ["` + strings.Repeat("y", maxText+1) + `"]}`:  "bytes, at most",
		`"dis": {"command": "x", "disabled": "yes"}`:                                    "true or false",
		`"twice": {"command": "x", "command": "y", "args": ["${NOT_SET}"]}`:             "command stands here twice",
		`"case": {"Command": "x"}`:                                                      "there is neither",
		`"headersonly": {"headers": {"A": "b"}}`:                                        "there is neither",
		`"bidi": {"command": "x` + "\u202e" + `", "args": ["${NOT_SET}"]}`:              "NOT_SET is not set",
		`"toolong": {"type": "` + strings.Repeat("t", 100) + `", "command": "x"}`:       "…",
		`"defaults": {"command": "x", "args": ["${A:-${B}}", "${NOT_SET}"]}`:            "NOT_SET",
		`"utf": {"command": "x", "args": ["${` + "\xff" + `}"]}`:                        "names no variable",
		`"dollars": {"command": "x", "args": ["$NOT_SET $$ ${}"]}`:                      "${} names no variable",
		`"spaces": {"command": "  "}`:                                                   "command: it is empty",
		`"nothing": null`:                                                               "an object { } was expected",
		`"headerless": {"url": "https://x", "headers": "Authorization: x"}`:             "object { }",
		`"newline": {"command": "x\ny"}`:                                                "holds what no program",
		`"upper": {"type": "SSE", "url": "https://x"}`:                                  `type "sse" is not spoken`,
		`"url": {"url": "${HARMLESS}"}`:                                                 "url: want a URL",
		`"mailto": {"url": "mailto:a@b"}`:                                               "want a URL",
		`"hdv": {"url": "https://x", "headers": {"A": "${EVIL}"}}`:                      "EVIL is not set",
	} {
		p := newPlace(t, `{"mcpServers": {"first": {"command": "a"}, `+entry+`, "last": {"command": "z"}}}`, "")
		want := strings.Replace(want, ":1:33:", fmt.Sprintf(":1:%d:", strings.Index(`{"mcpServers": {"first": {"command": "a"}, `+entry, `"sse"`)+1), 1)
		l := p.servers().List()
		for _, name := range []string{"first", "last"} {
			if e, ok := l.Find(name); !ok || !e.Used() {
				t.Errorf("%.60s: %s is lost: %q", entry, name, said(l))
			}
		}
		if used := len(l.Used()); used != 2 {
			t.Errorf("%.60s: %d are used", entry, used)
		}
		if len(l.Faults) == 0 || !strings.Contains("! "+l.Faults[0].String(), want) || !strings.HasPrefix(l.Faults[0].Place, ".mcp.json:1:") {
			t.Errorf("%.60s: %.300q, want %q", entry, l.Faults, want)
		}
		for _, f := range l.Faults {
			if strings.ContainsAny(f.Text, "\x1b\n\r") || strings.Contains(f.Text, "sk-ant") {
				t.Errorf("%.60s: %q", entry, f.Text)
			}
		}
	}
}

// A file that is wrong as a whole is reported, and nothing in it is used.
func TestRead_files(t *testing.T) {
	for text, want := range map[string]string{
		``: "", "\n \n": "", `{}`: "", `{"mcpServers": {}}`: "",
		"\ufeff" + `{"mcpServers": {}}`:             "",
		`{"mcpServers": {"a": {"command": "x"}}`:    "no JSON",
		"{\n  // ours\n  \"mcpServers\": {},}":      "",
		"{\n  /* ours\n  \"mcpServers\": {}}":       ".mcp.json:2:3: this is no JSON, so nothing of it is used",
		`{"mcpServers": {"a": {"command": "x"}},}}`: "no JSON",
		`[]`:                   "an object { } was expected",
		`{"mcpServers": []}`:   ".mcp.json:1:16: an object { } was expected",
		`{"mcpServers": null}`: "an object { } was expected",
		`{"mcpServers": {}, "enableAllProjectMcpServers": true}`:           "would start servers unasked",
		`{"mcpServers": {"a": {"command": "x"}}, "mcpServers": {}}`:        "mcpServers stands here twice",
		`{"mcpServers": {"a": "` + strings.Repeat("x", maxProject) + `"}}`: "bytes, at most",
		"\xff\xfe{\x00": "no JSON",
		`{"mcpServers": {"deep": ` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`: "max depth",
	} {
		p := newPlace(t, text, "")
		l := p.servers().List()
		if got := strings.Join(said(l), "\n"); (want == "") != (got == "") || !strings.Contains(got, want) || len(l.Used()) > 0 {
			t.Errorf("%.80q: %.300q, want %q", text, got, want)
		}
	}
	p := newPlace(t, "", "")
	p.must(os.Symlink("/etc/hostname", filepath.Join(p.root, ".mcp.json")))
	wants(t, p.servers().List(), "! .mcp.json: it is a link out of the workspace")
	p = newPlace(t, "", "")
	p.must(os.Mkdir(filepath.Join(p.root, ".mcp.json"), 0o755))
	wants(t, p.servers().List(), "! .mcp.json: it is no regular file")
	p = newPlace(t, "", "")
	p.must(os.Symlink("/dev/zero", filepath.Join(p.home, ".claude.json")))
	wants(t, p.servers().List(), "! ~/.claude.json: it is no regular file")
}

// Claude Code's file is found where its user put it, but not in the workspace.
func TestRead_claudeElsewhere(t *testing.T) {
	const mine = `{"mcpServers": {"mine": {"command": "x"}}}`
	p := newPlace(t, "", `{"mcpServers": {"home": {"command": "x"}}}`)
	elsewhere := t.TempDir()
	p.write(elsewhere, ".claude.json", mine)
	p.env["CLAUDE_CONFIG_DIR"] = elsewhere
	wants(t, p.servers().List(), elsewhere+"/.claude.json:1:17 mine: x")
	below := filepath.Join(p.home, "work")
	p.must(os.Mkdir(below, 0o700))
	p.write(below, ".claude.json", mine)
	p.env["CLAUDE_CONFIG_DIR"] = below
	wants(t, p.servers().List(), "~/work/.claude.json:1:17 mine: x")
	if e := p.servers().List().Entries[0]; !e.Own {
		t.Errorf("%+v", e)
	}
	theirs := filepath.Join(p.root, ".claude")
	p.must(os.Mkdir(theirs, 0o700))
	p.write(theirs, ".claude.json", mine)
	link := filepath.Join(t.TempDir(), "link")
	p.must(os.Symlink(theirs, link))
	for _, dir := range []string{theirs, p.root, link, "work"} {
		p.env["CLAUDE_CONFIG_DIR"] = dir
		wants(t, p.servers().List(), "~/.claude.json:1:17 home: x", "- CLAUDE_CONFIG_DIR: it is not followed")
	}
}

// A workspace's file has no effect on settings that are the user's alone.
func TestRead_ignored(t *testing.T) {
	p := newPlace(t, `{"mcpServers": {
"a": {"command": "x", "honest": true, "sampling": true, "timeout": 600000, "autoApprove": ["*"], "cwd": "/", "unknown": 1, "disabled": false},
"b": {"command": "x", "disabled": true}}}`, "")
	l := p.servers().List()
	wants(
		t, l, "a: x", "b: x (it is switched off there)", "- .mcp.json:2:23: a: honest is not used", "sampling", "timeout", "autoApprove", "cwd",
	)
	if e := l.Entries[0]; e.Honest || e.Sampling || e.Timeout != 0 || e.Own {
		t.Errorf("%+v", e)
	}
}

// Of Claude Code's file only the servers are decoded, even if it is large, and nothing else is stored.
func TestRead_claude(t *testing.T) {
	other := `"k": [{"mcpServers": {"x": {"command": "no"}}}, "}{\"\\", -1.5e3, true, null], `
	p := newPlace(t, "", `{`+other+`"oauthAccount": {"token": "secret-of-theirs"}, "projects": {"/w": {"mcpServers": {"theirs": {"command": "no"}}}},
  "mcpServers": {"mine": {"type": "stdio", "command": "x", "args": ["${ANTHROPIC_API_KEY}"], "timeout": 5000}}, "n": 1}`)
	l := p.servers().List()
	wants(t, l, "~/.claude.json:2:18 mine: x ${ANTHROPIC_API_KEY}")
	if e := l.Entries[0]; !e.Own || e.Args[0] != "sk-ant-0123456789" || e.Timeout != 5*time.Second {
		t.Errorf("%+v", e)
	}
	p = newPlace(t, "", `{"mcpServers": {"web": {"url": "https://x", "sampling": true, "oauth": {"clientId": "c", "callbackPort": 3118}},
"low": {"url": "https://x", "oauth": {"callbackPort": 80}}}}`)
	l = p.servers().List()
	wants(t, l, "web: https://x", "low: https://x", "web: sampling is not used: whether it may ask your model", "low: oauth.callbackPort is not used: it is no port")
	if e := l.Entries[0]; e.Client != "c" || e.Port != 3118 || e.Sampling || l.Entries[1].Port != 0 {
		t.Errorf("%+v", l.Entries)
	}
	if strings.Contains(fmt.Sprintf("%+v", l), "secret-of-theirs") {
		t.Error("more was kept")
	}
	large := `{"history": "` + strings.Repeat(`x\"{[`, 2<<20) + `", "mcpServers": {"mine": {"command": "x"}}}`
	p = newPlace(t, "", large)
	wants(t, p.servers().List(), "~/.claude.json:1:10485792 mine: x")
	p = newPlace(t, "", `{"mcpServers": {"mine": {"command": "x"}}, "a": `+strings.Repeat("[", 1<<20))
	wants(t, p.servers().List(), "mine: x", "! ~/.claude.json:1:1048624: the file ends in the middle")
	p = newPlace(t, "", `{"mcpServers": {"mine": "`+strings.Repeat("x", maxBlock)+`"}}`)
	wants(t, p.servers().List(), "so many are not read")
}

// The user's own servers win over the workspace's, even if they are broken or switched off, and the listing says so.
func TestNames(t *testing.T) {
	p := newPlace(t, `{"mcpServers": {"a": {"command": "p"}, "b": {"command": "p"}, "c": {"command": "p"}, "d": {"command": "p"}}}`,
		`{"mcpServers": {"a": {"command": "c"}, "b": {"command": "c"}, "e": {"type": "sse", "url": "https://x"}}}`)
	p.rows = []config.Server{
		{Name: "a", Line: 3, ServerRow: config.ServerRow{Command: "u", Honest: true, Timeout: "90s"}},
		{Name: "c", Line: 5, ServerRow: config.ServerRow{Command: "u", Args: []string{"${NOT_SET}"}}},
		{Name: "d", Line: 8, ServerRow: config.ServerRow{Command: "u", Disabled: true}},
	}
	l := p.servers().List()
	wants(
		t, l, "config.toml:3 a: u", "c: u ${NOT_SET} (args: the variable NOT_SET", "d: u (it is switched off", "a: c (shadowed: config.toml:3 has", "~/.claude.json:1:40 b: c", "e:", ".mcp.json:1:17 a: p (shadowed: config.toml:3",
		"b: p (shadowed: ~/.claude.json:1:40", "c: p (shadowed: config.toml:5", "d: p (shadowed", "! config.toml:5: c: args: the variable NOT_SET", "! ~/.claude.json",
	)
	var names []string
	for _, s := range l.Used() {
		names = append(names, s.Name+" "+s.Command)
	}
	if got := strings.Join(names, ", "); got != "a u, b c" {
		t.Errorf("used are %s", got)
	}
	if e, _ := l.Find("a"); !e.Honest || e.Timeout != 90*time.Second {
		t.Errorf("%+v", e)
	}
	if len(l.Parts()) != 0 {
		t.Errorf("the user's own are to be trusted: %+v", l.Parts())
	}
}

// TestNames_alike: names that differ only in characters that models are not sent each mean their own server: the
// user's keep their word, whatever a workspace adds, and one that needs no other word keeps it before others of its
// file.
func TestNames_alike(t *testing.T) {
	p := newPlace(t, `{"mcpServers": {"my_server": {"command": "p"}, "my/server": {"command": "p"}, " blank ": {"command": "p"}, "a.b": {"command": "p"}, "a b": {"command": "p"}, "a_b": {"command": "p"}}}`,
		`{"mcpServers": {"my@server": {"command": "c"}, "größe 🚀": {"command": "c"}}}`)
	p.rows = []config.Server{{Name: "my server", Line: 3, ServerRow: config.ServerRow{Command: "u"}}}
	l := p.servers().List()
	words := map[string]string{}
	for _, s := range l.Used() {
		if was := words[s.Word()]; was != "" {
			t.Errorf("%q and %q have the word %s", was, s.Name, s.Word())
		}
		words[s.Word()] = s.Name
	}
	for word, want := range map[string]string{"my_server": "my server", "gr__e": "", "gr_e": "größe 🚀", "blank": "blank", "a_b": "a_b"} {
		if words[word] != want {
			t.Errorf("%s is %q, want %q: %q", word, words[word], want, words)
		}
	}
	if len(words) != 9 {
		t.Errorf("%q", words)
	}
	for word, name := range words { // people may write either
		if e, is := l.Find(word); !is || e.Name != name && word != "my_server" {
			t.Errorf("%s leads to %q, want %q", word, e.Name, name)
		}
		if e, is := l.Find(name); !is || e.Word() != word {
			t.Errorf("%q leads to %s", name, e.Word())
		}
	}
	for _, s := range p.servers().Servers() {
		if s.Word() != server(t, p.servers(), s.Name).Word() {
			t.Errorf("%q has another word each time", s.Name)
		}
	}
}

// One odd field of a server loses only itself, or that server if something else would start without it. The report
// names the file, the server and the field.
func TestRead_odd(t *testing.T) {
	const out, alone = "out", "alone" // what it loses
	odd := []string{`[]`, `{}`, `null`, `""`, `"x"`, `0`, `1`, `true`, `[1]`, `{"a": []}`, `1.5e3`, `[null]`, `[[]]`}
	quiet := []string{`[]`, `{}`, `null`, `""`}
	for _, c := range []struct {
		with, field string
		lost        map[string]string // by value; "": nothing is, and nothing is reported
	}{
		{`"command": "c"`, "args", map[string]string{`"x"`: out, `0`: out, `1`: out, `true`: out, `[1]`: "", `{"a": []}`: out, `1.5e3`: out, `[null]`: "", `[[]]`: out}},
		{`"command": "c"`, "env", map[string]string{`"x"`: out, `0`: out, `1`: out, `true`: out, `[1]`: out, `{"a": []}`: out, `1.5e3`: out, `[null]`: out, `[[]]`: out}},
		{`"command": "c"`, "url", map[string]string{`"x"`: out, `0`: alone, `1`: alone, `true`: alone, `[1]`: alone, `{"a": []}`: alone, `1.5e3`: alone, `[null]`: alone, `[[]]`: alone}},
		{`"command": "c"`, "headers", map[string]string{`"x"`: out, `0`: out, `1`: out, `true`: out, `[1]`: out, `{"a": []}`: out, `1.5e3`: out, `[null]`: out, `[[]]`: out}},
		{`"command": "c"`, "type", map[string]string{`"x"`: out, `0`: alone, `1`: alone, `true`: alone, `[1]`: alone, `{"a": []}`: alone, `1.5e3`: alone, `[null]`: alone, `[[]]`: alone}},
		{`"command": "c"`, "disabled", map[string]string{`"x"`: out, `0`: "", `1`: out, `true`: out, `[1]`: out, `{"a": []}`: out, `1.5e3`: out, `[null]`: out, `[[]]`: out}},
		{`"command": "c"`, "timeout", map[string]string{`"x"`: alone, `0`: alone, `1`: alone, `true`: alone, `[1]`: alone, `{"a": []}`: alone, `1.5e3`: alone, `[null]`: alone, `[[]]`: alone}},
		{`"command": "c"`, "cwd", map[string]string{`"x"`: alone, `0`: alone, `1`: alone, `true`: alone, `[1]`: alone, `{"a": []}`: alone, `1.5e3`: alone, `[null]`: alone, `[[]]`: alone}},
		{`"command": "c"`, "alwaysAllow", map[string]string{`"x"`: alone, `0`: alone, `1`: alone, `true`: alone, `[1]`: alone, `{"a": []}`: alone, `1.5e3`: alone, `[null]`: alone, `[[]]`: alone}},
		{`"command": "c"`, "description", map[string]string{}},
		{`"command": "c"`, "oauth", map[string]string{`"x"`: alone, `0`: alone, `1`: alone, `true`: alone, `[1]`: alone, `1.5e3`: alone, `[null]`: alone, `[[]]`: alone}},
		{`"url": "https://x"`, "command", map[string]string{`"x"`: out, `0`: alone, `1`: alone, `true`: alone, `[1]`: out, `{"a": []}`: alone, `1.5e3`: alone, `[null]`: alone, `[[]]`: alone}},
		{`"url": "https://x"`, "headers", map[string]string{`"x"`: out, `0`: out, `1`: out, `true`: out, `[1]`: out, `{"a": []}`: out, `1.5e3`: out, `[null]`: out, `[[]]`: out}},
	} {
		for _, v := range odd {
			for _, twice := range []bool{false, true} {
				field := fmt.Sprintf("%q: %s", c.field, v)
				if twice {
					field += ", " + field
				}
				p := newPlace(t, `{"mcpServers": {"first": {"command": "a"}, "odd": {`+c.with+`, `+field+`}, "last": {"command": "z"}}}`, "")
				l := p.servers().List()
				e, _ := l.Find("odd")
				lost := c.lost[v]
				if e.Used() != (lost != out) || len(l.Entries) != 3 || !l.Entries[0].Used() || !l.Entries[2].Used() {
					t.Errorf("%s, %s: %q", c.with, field, said(l))
				}
				told := ""
				for _, f := range append(l.Faults, l.Ignored...) {
					told += f.String() + "\n"
				}
				if e.Out == "it is switched off there" {
					told += ".mcp.json: odd: disabled: it is switched off there"
				}
				names := strings.Contains(told, ".mcp.json:1:") && strings.Contains(told, "odd: ") && strings.Contains(told, c.field)
				if heard := lost != "" || twice; heard && lost != "" && !names && e.Out != "it is switched off there" || !heard && told != "" {
					t.Errorf("%s, %s: told %q", c.with, field, told)
				}
				if slices.Contains(quiet, v) && lost != "" {
					t.Errorf("%s is not held to be missing", field)
				}
			}
		}
	}
}

// Settings that other tools write in another form are read as they are meant.
func TestRead_meant(t *testing.T) {
	p := newPlace(t, `// ours
{"mcpServers": {
  "list": {"command": ["npx", "-y", "server"], "args": ["--port", 8080, null, true],}, // a whole command line
  "values": {"command": "c", "env": {"PORT": 8080, "DEBUG": true, "RATE": 0.5, "NONE": null, "TEXT": "x"}, "disabled": "false"},
  "far": {"command": null, "url": "https://x", "headers": {"X-Version": 2}, "type": null},
}}`, "")
	l := p.servers().List()
	wants(t, l, ".mcp.json:3:3 list: npx -y server --port 8080 true", ".mcp.json:4:3 values: c", ".mcp.json:5:3 far: https://x")
	if e := l.Entries[1].Env; len(e) != 4 || e["PORT"] != "8080" || e["DEBUG"] != "true" || e["RATE"] != "0.5" || e["TEXT"] != "x" {
		t.Errorf("%q", e)
	}
	if h := l.Entries[2].Headers; h["X-Version"] != "2" {
		t.Errorf("%q", h)
	}
}
