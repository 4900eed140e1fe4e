package cli

import (
	"fmt"
	"path/filepath"
	"strings"
)

// systemd returns the unit as a user unit in dir. The workspace is an argument, because
// WorkingDirectory= has no quoting and could not name every directory.
//
// The unit restarts however the host ended, because /quit and /restart on a screen end a host too.
// If it keeps failing, systemd gives up after five starts. With KillMode=mixed the host ends its
// agents' commands itself.
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

// specified escapes % in s.
func specified(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// quoted returns s in double quotes, with quotes, backslashes and % escaped.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(specified(s)) + `"`
}

// expanded escapes $ in an argument. In the name of a program, systemd does not expand $.
func expanded(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// globbed escapes pattern characters in a path.
func globbed(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(s)
}
