package cli

import (
	"encoding/xml"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// launchd returns the unit as a user agent of launchd. KeepAlive restarts it however it ended,
// because /quit and /restart on a screen end a host too. launchd retries without limit and waits
// ThrottleInterval seconds between two starts.
func launchd(h UnitHost, name, home string, uid int) (Unit, error) {
	if !filepath.IsAbs(home) {
		return Unit{}, errors.New("find ~/Library/LaunchAgents: HOME is no absolute path; set it")
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<!-- %s; fantail host uninstall removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
`, unitMark, name)
	for _, word := range h.words() {
		fmt.Fprintf(&b, "\t\t<string>%s</string>\n", escaped(word))
	}
	b.WriteString("\t</array>\n\t<key>EnvironmentVariables</key>\n\t<dict>\n")
	for _, kv := range h.Env {
		key, value, _ := strings.Cut(kv, "=")
		fmt.Fprintf(&b, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", escaped(key), escaped(value))
	}
	b.WriteString(`	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<true/>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ExitTimeOut</key>
	<integer>10</integer>
</dict>
</plist>
`)
	domain := fmt.Sprintf("gui/%d", uid)
	path := filepath.Join(home, "Library", "LaunchAgents", name+".plist")
	return Unit{
		Name: name, Path: path, Text: b.String(),
		Runs:    h.words(),
		Start:   [][]string{{"launchctl", "bootstrap", domain, path}},
		Again:   []string{"launchctl", "kickstart", "-k", domain + "/" + name},
		Stop:    []string{"launchctl", "bootout", domain + "/" + name},
		Forget:  [][]string{{"launchctl", "bootout", domain + "/" + name}},
		Lingers: "It runs from your login to your logout: launchd keeps no agent of yours with nobody logged in",
		Brings:  "No key is in it. Its host has those of launchd (launchctl setenv), and those of the shells whose screens attach",
	}, nil
}

// escaped returns s as the text of an XML element.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
