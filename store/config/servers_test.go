package config

import (
	"strings"
	"testing"
	"time"
)

func TestServers(t *testing.T) {
	c, err := Load(write(t, `theme = "dark"

[mcp.b_2]
command = "npx"
args = ["-y", "x"]
env = { A = "${B:-c}" }
timeout = "90s"
honest = true

[mcp.a]
url = "${BASE}/mcp"
headers = { Authorization = "Bearer ${T}" }
client = "ours"
secret_env = "THE_SECRET"
redirect_port = 8123
sampling = true
`))
	if err != nil {
		t.Fatal(err)
	}
	all := c.Servers()
	if len(all) != 2 || all[0].Name != "a" || all[0].Line != 10 || all[1].Name != "b_2" || all[1].Line != 3 {
		t.Fatalf("%+v", all)
	}
	if d, err := all[1].Call(); err != nil || d != 90*time.Second || !all[1].Honest || all[1].Args[1] != "x" || all[1].Env["A"] != "${B:-c}" {
		t.Errorf("%+v, %v, %v", all[1], d, err)
	}
	if a := all[0]; a.Client != "ours" || a.SecretEnv != "THE_SECRET" || a.RedirectPort != 8123 || !a.Sampling || all[1].Sampling || a.URL != "${BASE}/mcp" {
		t.Errorf("%+v", a)
	}
	if len(Default().Servers()) != 0 {
		t.Error("there are servers by themselves")
	}
}

func TestServers_wrong(t *testing.T) {
	for text, want := range map[string]string{
		"[mcp.x]\n": `:1: mcp.x: command or url is missing`,
		"\n[mcp.x]\ncommand = \"a\"\nurl = \"https://h\"\n":                               `:4: mcp.x: command and url exclude each other`,
		"[mcp.x]\ncommand = \"a\"\nheaders = { A = \"b\" }\n":                             `mcp.x: headers, client, secret_env and redirect_port belong to a url`,
		"[mcp.x]\nurl = \"https://h\"\nargs = [\"a\"]\n":                                  `mcp.x: args and env belong to a command`,
		"[mcp.x]\nurl = \"ftp://h\"\n":                                                    `:2: mcp.x.url: want a URL`,
		"[mcp.x]\nurl = \"https://me:sk-very-secret@h\"\n":                                `must not hold a user`,
		"[mcp.x]\nurl = \"https://h\"\nheaders = { \"A b\" = \"c\" }\n":                   `:3: mcp.x.headers: it is no name of a header`,
		"[mcp.x]\ncommand = \"a\"\nenv = { \"A-B\" = \"c\" }\n":                           `:3: mcp.x.env: want names of environment variables`,
		"[mcp.x]\ncommand = \"a\"\ntimeout = \"2h\"\n":                                    `:3: mcp.x.timeout: want a time from "1s" to "1h"`,
		"[mcp.x]\ncommand = \"a\"\ntimeout = \"soon\"\n":                                  `:3: mcp.x.timeout: want a time`,
		"[mcp.\" \"]\ncommand = \"a\"\n":                                                  `:1: mcp. : a server's name is not empty`,
		"[mcp.\"a\\u200bb\"]\ncommand = \"a\"\n":                                          `a server's name holds nothing that can't be seen, this holds U+200B`,
		"[mcp.x]\ncomand = \"a\"\n":                                                       `:2: unknown key "mcp.x.comand"; did you mean "mcp.x.command"?`,
		"[mcp.x]\nurl = \"https://h\"\ntoken = \"sk-very-secret\"\n":                      `:3: unknown key "mcp.x.token": keys do not belong in this file; env and headers may name a variable`,
		"[mcp.x]\nurl = \"https://h\"\nclient = \"c\"\nsecret_env = \"sk-very-secret\"\n": `:4: mcp.x.secret_env: want the name of an environment variable`,
		"[mcp.x]\nurl = \"https://h\"\nredirect_port = 80\n":                              `:3: mcp.x.redirect_port: want a port from 1024 to 65535`,
		"[mcp.x]\ncommand = \"a\"\nredirect_port = 8080\n":                                `redirect_port belong to a url`,
		"[mcp.x]\nurl = \"https://h\"\nsecret_env = \"A\"\n":                              `:3: mcp.x.secret_env: it is the secret of a client`,
		"[mcp.x]\ncommand = [\"a\"]\n":                                                    `:2: mcp.x.command: `,
	} {
		path := write(t, text)
		c, err := Load(path)
		if err == nil {
			t.Errorf("%q is accepted: %+v", text, c)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+":") || strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), "sk-very") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A server may have any name that people can read.
func TestServerName(t *testing.T) {
	for _, name := range []string{"a", "my server", "a.b", "@scope/name", "wörter", "日本語", "👩‍💻", "a__b", "_", "nbsp\u00a0name", strings.Repeat("n", 300)} {
		if err := ServerName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "  ", "a\nb", "\x1b[2J", "a\u202eb", "git\u200dhub", "a\u200bb", "\xff", strings.Repeat("n", 1001)} {
		if ServerName(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
}
