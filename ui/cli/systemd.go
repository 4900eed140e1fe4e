package cli

import (
	"fmt"
	"path/filepath"
	"strings"
)

// systemd is the service as a user unit in that directory. The workspace is an argument: WorkingDirectory= knows no
// quotes, so that it could not name each directory.
//
// It is started again however it ended, as /quit and /restart on a screen end a host, too; of what keeps failing five
// starts are tried. KillMode=mixed leaves it to the host to end its agents' commands.
func systemd(h UnitHost, name, dir string) (Unit, error) {
	if strings.ContainsAny(h.Program, `"'\`) {
		return Unit{}, fmt.Errorf("systemd runs no program whose path has quotes or backslashes, as %s: move it", h.Program)
	}
	name += ".service"
	var env strings.Builder
	for _, kv := range h.Env {
		fmt.Fprintf(&env, "Environment=%s\n", quoted(kv))
	}
	u := Unit{
		Name: name, Path: filepath.Join(dir, name), wants: filepath.Join(dir, "default.target.wants", name),
		Text: fmt.Sprintf(`# %s; fantail host uninstall removes it.
[Unit]
Description=Fantail's host of %s, which carries out its schedules
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=%s host run --cwd %s
%sEnvironmentFile=-%s
Restart=always
RestartSec=10
KillMode=mixed
TimeoutStopSec=10

[Install]
WantedBy=default.target
`, unitMark, specified(h.Root), quoted(h.Program), expanded(quoted(h.Root)), env.String(), globbed(specified(h.keys))),
		Runs:    h.words(),
		Start:   [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", "--now", name}},
		Again:   []string{"systemctl", "--user", "restart", name},
		Stop:    []string{"systemctl", "--user", "stop", name},
		Forget:  [][]string{{"systemctl", "--user", "disable", "--now", name}},
		Gone:    [][]string{{"systemctl", "--user", "daemon-reload"}},
		Lingers: "It runs from your login to your logout; with nobody logged in, too, after: loginctl enable-linger",
		Brings: "No key is in it. Its host has those of systemd (systemctl --user show-environment), those in lines NAME=VALUE of " + h.keys +
			" (chmod 600), and those of the shells whose screens attach",
	}
	return u, nil
}

// specified has no % stand for anything else.
func specified(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// quoted is a word of a line in which quotes and backslashes mean something, as it is to be.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(specified(s)) + `"`
}

// expanded has no $ name a variable. It is for arguments: in the name of a program it stands for itself.
func expanded(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// globbed is a path that stands for itself where patterns are understood.
func globbed(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(s)
}
