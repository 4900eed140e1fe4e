package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// roots are workspaces with what the formats read as something else.
var roots = []string{
	"/src/plain", "/src/my project", `/src/100%h $HOME ${x} "quoted" 'single' \back\`, "/src/ünï—码 🐠", "/src/<a>&amp;]]>", "/src/#;-x:@!*?[z]{a,b}~", "/",
}

// environ reads variables out of those of the map.
func environ(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// on is the unit of a workspace on that operating system.
func on(t *testing.T, system, program, root, home string) Unit {
	t.Helper()
	env := environ(map[string]string{
		"HOME": home, "PATH": "/bin:/my tools/$x%y\"'\\", "TZ": "Europe/Berlin", "ANTHROPIC_API_KEY": "sk-secret", "XDG_RUNTIME_DIR": "/run/user/7", "TMPDIR": "/tmp",
	})
	u, err := NewUnit(system, UnitHost{Program: program, Root: root, Env: UnitEnv(env)}, env, 7)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(u.Text, "sk-secret") || strings.Contains(u.Text, "TMPDIR") {
		t.Errorf("what is none of its business stands in it:\n%s", u.Text)
	}
	return u
}

// TestSystemd: systemd runs the program with the arguments that are meant, whatever is in them.
func TestSystemd(t *testing.T) {
	u := on(t, "linux", "/opt/my $x 100%h/fantail", roots[2], "/home/me%s[1]")
	for _, line := range []string{
		`ExecStart="/opt/my $x 100%%h/fantail" host run --cwd "/src/100%%h $$HOME $${x} \"quoted\" 'single' \\back\\"`,
		`Environment="PATH=/bin:/my tools/$x%%y\"'\\"`, `Environment="TZ=Europe/Berlin"`, `EnvironmentFile=-/home/me%%s\[1]/.config/fantail/host.env`,
	} {
		if !slices.Contains(strings.Split(u.Text, "\n"), line) {
			t.Errorf("no line %s in\n%s", line, u.Text)
		}
	}
	if u.Path != "/home/me%s[1]/.config/systemd/user/"+u.Name || !strings.HasPrefix(u.Name, "fantail-") || !strings.HasSuffix(u.Name, ".service") {
		t.Errorf("%s in %s", u.Name, u.Path)
	}
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "my $x 100%h ü;#", "fantail")
	if err := errors.Join(os.Mkdir(filepath.Dir(program), 0o700), os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, root := range roots {
		u := on(t, "linux", program, root, dir)
		if _, err := u.Write(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(verify, "verify", "--user", "--man=no", u.Path)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "SYSTEMD_LOG_LEVEL=debug", "HOME="+dir)
		var said bytes.Buffer
		cmd.Stderr = &said
		dump, err := cmd.Output()
		if err != nil || strings.Contains(said.String(), u.Path+":") {
			t.Errorf("%s: %v: %s", root, err, &said)
			continue
		}
		// It prints the command as a shell would read it, with what is a variable's still to come.
		_, line, _ := strings.Cut(string(dump), "Command Line: ")
		line, _, _ = strings.Cut(line, "\n")
		words, err := exec.Command("/bin/sh", "-c", `printf '%s\n' `+line).Output()
		got := strings.ReplaceAll(string(words), "$$", "$")
		if want := program + "\nhost\nrun\n--cwd\n" + root + "\n"; err != nil || got != want {
			t.Errorf("it would run %q, not %q (%v): %s", got, want, err, line)
		}
	}
}

// TestLaunchd: the property list holds the words that are meant.
func TestLaunchd(t *testing.T) {
	for _, root := range roots {
		u := on(t, "darwin", `/opt/a "b" 'c' <d>/fantail`, root, "/Users/me")
		if u.Path != "/Users/me/Library/LaunchAgents/"+u.Name+".plist" || !strings.Contains(strings.Join(u.Start[0], " "), "bootstrap gui/7 "+u.Path) {
			t.Errorf("%s: %q", u.Path, u.Start)
		}
		var texts []string
		d := xml.NewDecoder(strings.NewReader(u.Text))
		for open := ""; ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", root, err, u.Text)
			}
			switch x := token.(type) {
			case xml.StartElement:
				open = x.Name.Local
			case xml.EndElement:
				open = ""
			case xml.CharData:
				if open == "key" || open == "string" {
					texts = append(texts, string(x))
				}
			}
		}
		want := []string{
			"Label", u.Name, "ProgramArguments", `/opt/a "b" 'c' <d>/fantail`, "host", "run", "--cwd", root,
			"EnvironmentVariables", "PATH", "/bin:/my tools/$x%y\"'\\", "TZ", "Europe/Berlin", "XDG_RUNTIME_DIR", "/run/user/7",
			"RunAtLoad", "KeepAlive", "ThrottleInterval", "ExitTimeOut",
		}
		if !slices.Equal(texts, want) {
			t.Errorf("%s:\n%q\nnot\n%q", root, texts, want)
		}
	}
}

// TestNew_refuses: what no unit can hold is an error, and nothing else is taken instead.
func TestNew_refuses(t *testing.T) {
	home := environ(map[string]string{"HOME": "/home/me"})
	for _, c := range []struct {
		system string
		h      UnitHost
		env    func(string) string
		says   string
	}{
		{"linux", UnitHost{Program: "/bin/fantail", Root: "/src/a\nExecStart=/bin/evil"}, home, "rename it"},
		{"darwin", UnitHost{Program: "/bin/fantail", Root: "/src/\xff"}, home, "rename it"},
		{"linux", UnitHost{Program: "/bin/fantail", Root: "/src", Env: []string{"PATH=/bin\x1b"}}, home, "rename it"},
		{"linux", UnitHost{Program: `/opt/"q"/fantail`, Root: "/src"}, home, "quotes"},
		{"linux", UnitHost{Program: "/bin/fantail", Root: "/src"}, environ(nil), "HOME"},
		{"darwin", UnitHost{Program: "/bin/fantail", Root: "/src"}, environ(map[string]string{"XDG_CONFIG_HOME": "/etc"}), "HOME"},
	} {
		if u, err := NewUnit(c.system, c.h, c.env, 7); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v\n%s", c.h, err, u.Text)
		}
	}
}

// TestWrite: it is written once, replaced if it is ours, and taken away with the link that starts it; somebody else's
// stays.
func TestWrite(t *testing.T) {
	u := on(t, "linux", "/bin/fantail", "/src", t.TempDir())
	if err := u.Remove(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing to remove: %v", err)
	}
	for _, want := range []bool{true, false} {
		if wrote, err := u.Write(); err != nil || wrote != want {
			t.Errorf("wrote it %v, %v", wrote, err)
		}
	}
	newer := u
	newer.Text += "# newer\n"
	if wrote, err := newer.Write(); err != nil || !wrote {
		t.Errorf("wrote it anew: %v, %v", wrote, err)
	}
	if text, err := os.ReadFile(u.Path); err != nil || string(text) != newer.Text {
		t.Errorf("%s, %v", text, err)
	}
	if err := errors.Join(os.Mkdir(filepath.Dir(u.wants), 0o700), os.Symlink(u.Path, u.wants)); err != nil {
		t.Fatal(err)
	}
	if err := u.Remove(); err != nil || u.There() {
		t.Errorf("removed: %v", err)
	}
	if _, err := os.Lstat(u.wants); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link is still there: %v", err)
	}
	theirs := []byte("[Service]\nExecStart=/bin/true\n")
	if err := os.WriteFile(u.Path, theirs, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Write(); err == nil || !strings.Contains(err.Error(), "somebody else's") {
		t.Errorf("wrote over it: %v", err)
	}
	if err := u.Remove(); err == nil || !strings.Contains(err.Error(), "somebody else's") {
		t.Errorf("removed it: %v", err)
	}
	if text, err := os.ReadFile(u.Path); err != nil || !bytes.Equal(text, theirs) {
		t.Errorf("it is %q, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(u.Path), ".fantail-*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

// TestProgram: it is called by the name that stays, and one that go run made is refused.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	made := func(path ...string) string {
		p := filepath.Join(append([]string{dir}, path...)...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, nil, 0o700)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	exe, other := made("1.2", "fantail"), made("other", "fantail")
	link := filepath.Join(dir, "fantail")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	for found, want := range map[string]string{link: link, other: exe, "": exe, "fantail": exe} {
		if got, err := UnitProgram(exe, found); err != nil || got != want {
			t.Errorf("found %q: %s, %v", found, got, err)
		}
	}
	for _, path := range [][]string{{"go-build17", "b001", "exe", "fantail"}, {"go-build", "a1", "a1f-d", "fantail"}} {
		if got, err := UnitProgram(made(path...), ""); err == nil || !strings.Contains(err.Error(), "go install") {
			t.Errorf("%q: %s, %v", path, got, err)
		}
	}
	if got, err := UnitProgram(exe+" (deleted)", ""); err == nil || !strings.Contains(err.Error(), "run it again") {
		t.Errorf("%s, %v", got, err)
	}
}

// TestLine: a shell reads it as the words that are meant.
func TestLine(t *testing.T) {
	argv := append([]string{"printf", `%s\n`, "", "it's"}, roots...)
	out, err := exec.Command("/bin/sh", "-c", CommandLine(argv)).Output()
	if want := strings.Join(argv[2:], "\n") + "\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v\nnot %q", out, err, want)
	}
}
