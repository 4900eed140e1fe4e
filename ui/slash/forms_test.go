package slash

import (
	"regexp"
	"strings"
	"testing"

	"fantail/tools/permission"
)

// TestForms: /help says of each command with arguments what its options do, and its example is taken as it stands.
func TestForms(t *testing.T) {
	option := regexp.MustCompile(`--[a-z-]+|[a-z]+=`)
	w := world(t)
	for _, c := range commands() {
		f, ok := forms[c.name]
		if ok != (c.args != "") {
			t.Errorf("/%s has arguments %q, and a form: %t", c.name, c.args, ok)
			continue
		}
		for _, o := range option.FindAllString(c.args, -1) {
			if !strings.Contains("\n"+f.options, "\n"+o) {
				t.Errorf("/help %s does not explain %s", c.name, o)
			}
		}
		for line := range strings.SplitSeq(strings.TrimSpace(f.options), "\n") {
			if name, does, cut := strings.Cut(line, ": "); f.options != "" && (!cut || name == "" || len(does) > 70) {
				t.Errorf("/help %s: %q is no option", c.name, line)
			}
		}
		if f.example == "" {
			continue
		}
		e := crowd(w)
		e.Sandbox = func(permission.Mode) string { return "" }
		if err := enter(t, e, f.example); err != nil && (usage.MatchString(err.Error()) || !lacks.MatchString(err.Error())) {
			t.Errorf("%s: %v", f.example, err)
		}
	}
}

// TestHelpPage: /help takes pages, commands and aliases with or without their slash, and says what is near.
func TestHelpPage(t *testing.T) {
	for name, has := range map[string]string{
		"": "`/check` | take all mail", "push": "after=A,B", "/push": "Example:", "exit": "End Fantail", "mail": "# ", "sandbox": "# ",
		"/sandbox": "[revoke RULE]", "pusch": "did you mean /help push?", "zzzzzzzz": "/help lists them",
	} {
		p, err := HelpPage(CustomCommands{}, name)
		if err != nil {
			p.Text = err.Error()
		}
		if !strings.Contains(p.Text, has) {
			t.Errorf("/help %s: %q is not in\n%s", name, has, p.Text)
		}
	}
}
