package slash

import (
	"regexp"
	"strings"
	"testing"

	"fantail/tools/permission"
	"fantail/ui/intent"
	"fantail/ui/manual"
)

// TestManualListsTheCommands holds the manual's table against the one that runs.
func TestManualListsTheCommands(t *testing.T) {
	page, _ := manual.Find("commands")
	_, rest, ok := strings.Cut(page.Text, "<!-- commands -->\n")
	table, _, closed := strings.Cut(rest, "<!-- /commands -->")
	if !ok || !closed {
		t.Fatal("commands.md has lost the marks <!-- commands --> and <!-- /commands -->")
	}
	if want := Table(); table != want {
		t.Errorf("commands.md lists other commands than there are; between the marks it must say:\n%s", want)
	}
}

var (
	blocks  = regexp.MustCompile("(?sm)^```(\\w*)\n(.*?)^```")
	spans   = regexp.MustCompile("`(/[a-z][^`]*)`")
	remark  = regexp.MustCompile(`   .*`) // after a line of a block
	capital = strings.NewReplacer(
		"NAME-fork-1", "copy", "mem-NAME", "mem-x", "agent=NAME", "agent=reviewer", "NAME", "lint", "WHEN", "30m", "!COMMAND", "!make", "COMMAND", "make",
		"RULE", "network", "FILE", "AGENTS.md", "MODE", "ask", "PAGE", "mail", "TEXT", "hello", "net=HOST", "net=example.org",
	)
	// lacks are answers to a command that is as it should be, where what it speaks of is not there.
	lacks = regexp.MustCompile(`(?i)no such agent|there is no (agent|message|memory document|task|turn|schedule)|no messages were taken|is queued or runs|is idle|` +
		`has (not )?(started|ended)|no model \w+/|is no question|no row|no check|failed: exit|was given|the price of|is scheduled already|no instruction files`)
	usage = regexp.MustCompile(`; it is /\w`)
)

// typed are the slash commands that a page says to type: the lines of its blocks, and those in its text and tables.
func typed(text string) (lines []string) {
	if before, rest, ok := strings.Cut(text, "<!-- commands -->"); ok {
		_, after, _ := strings.Cut(rest, "<!-- /commands -->")
		text = before + after // the table has forms
	}
	for _, b := range blocks.FindAllStringSubmatch(text, -1) {
		for line := range strings.SplitSeq(b[2], "\n") {
			if b[1] == "" && strings.HasPrefix(line, "/") {
				lines = append(lines, strings.TrimSuffix(remark.ReplaceAllString(line, ""), `\`))
			}
		}
	}
	for _, m := range spans.FindAllStringSubmatch(blocks.ReplaceAllString(text, ""), -1) {
		if word, _, _ := strings.Cut(m[1], " "); !strings.ContainsAny(word[1:], "/:._") && word != "/etc" && word != "/proc" && word != "/tmp" {
			lines = append(lines, m[1])
		}
	}
	return lines
}

// TestManualCommands types each command of the manual: it is one, and takes what stands there.
func TestManualCommands(t *testing.T) {
	n := 0
	for _, name := range manual.Names() {
		page, _ := manual.Find(name)
		w := world(t)
		for _, line := range typed(page.Text) {
			n++
			e := crowd(w)
			e.Custom = room(t, nil)
			e.Sandbox = func(permission.Mode) string { return "" }
			if word, rest, _ := strings.Cut(line[1:], " "); rest == "" { // it is only named
				if _, ok := find(word); !ok && !e.Custom.Has(word) {
					t.Errorf("%s.md: there is no command %s", name, line)
				}
				continue
			}
			if err := enter(t, e, capital.Replace(line)); err != nil && (usage.MatchString(err.Error()) || !lacks.MatchString(err.Error())) {
				t.Errorf("%s.md: %s: %v", name, line, err)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d commands were found", n)
	}
}

// enter carries out a command typed in main's tab, all that it does at once.
func enter(t *testing.T, e Options, line string) error {
	i, err := Run(e, e.Tabs.Main(), line)
	for _, i := range each(i) {
		if err != nil {
			break
		}
		if do, ok := i.(intent.Do); ok && !do.Long {
			_, err = do.F(t.Context())
		}
	}
	return err
}

// each are the parts of an intent.
func each(i intent.Intent) (parts []intent.Intent) {
	all, ok := i.(intent.All)
	if !ok {
		return []intent.Intent{i}
	}
	for _, i := range all {
		parts = append(parts, each(i)...)
	}
	return parts
}
