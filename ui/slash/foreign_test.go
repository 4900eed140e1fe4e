package slash

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/composer"
	"fantail/ui/intent"
)

// typedAll types a text into an empty box that completes commands, presses Enter, and returns what is sent; false: nothing is.
func typedAll(t *testing.T, text string) (string, bool) {
	t.Helper()
	theme, err := themes.Load(themes.Default(true), true)
	if err != nil {
		t.Fatal(err)
	}
	source := func(trigger, line, word string) []composer.Item { return Complete(Options{}, trigger, line, word) }
	b := composer.New(theme, source, "")
	for _, r := range text {
		b.Key(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	what, _ := b.Key(tea.KeyPressMsg{Code: tea.KeyEnter})
	return b.Value(), what == composer.Submit
}

// typos are a word's beginnings, and what comes of one wrong letter: left out, doubled, changed, swapped with the next.
func typos(word string) (all []string) {
	for i := range word {
		if i > 0 {
			all = append(all, word[:i])
		}
		all = append(all, word[:i]+word[i+1:], word[:i+1]+word[i:], word[:i]+"x"+word[i+1:])
		if i > 0 {
			all = append(all, word[:i-1]+word[i:i+1]+word[i-1:i]+word[i+1:])
		}
	}
	return all
}

// TestEnterRunsWhatWasTyped: Enter sends the word as it stands in the box, and a word that is no command runs none.
func TestEnterRunsWhatWasTyped(t *testing.T) {
	e := crowd(world(t))
	known := map[string]bool{"": true}
	words := Words()
	for _, f := range foreignCommands {
		words = append(words, f.words...)
	}
	for _, w := range words {
		known[w] = true
	}
	tried := 0
	for _, w := range words {
		for _, typo := range append(typos(w), w) {
			sent, ok := typedAll(t, "/"+typo)
			if !ok || sent != "/"+typo {
				t.Errorf("/%s and Enter sent %q", typo, sent)
			}
			if known[typo] {
				continue
			}
			tried++
			if i, err := Run(e, e.Tabs.Focus, sent); i != nil || err == nil || !strings.HasPrefix(err.Error(), "unknown command /"+typo+". ") {
				t.Errorf("/%s: %v, %v", typo, i, err)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d words were tried", tried)
	}
}

// TestForeignCommands: each word of another program is none of ours, and leads to commands that there are.
func TestForeignCommands(t *testing.T) {
	e := crowd(world(t))
	seen := map[string]bool{}
	for _, f := range foreignCommands {
		for _, w := range f.words {
			if _, ours := find(w); ours || seen[w] {
				t.Errorf("/%s stands twice", w)
			}
			seen[w] = true
			if f.line == "" {
				i, err := Run(e, e.Tabs.Focus, "/"+w+" and more")
				if tell, ok := i.(intent.Tell); !ok || err != nil || tell.Text != "Fantail has no /"+w+": "+f.says {
					t.Errorf("/%s: %v, %v", w, i, err)
				}
			}
		}
		name, _, _ := strings.Cut(f.line, " ")
		if _, ok := find(name); !ok && f.line != "" {
			t.Errorf("%v runs /%s, which there is not", f.words, name)
		}
		for _, word := range strings.Fields(f.says) {
			name := strings.Trim(strings.TrimPrefix(word, "/"), ",;:")
			if _, ok := find(name); !ok && strings.HasPrefix(word, "/") {
				t.Errorf("%v names %s, which there is not", f.words, word)
			}
		}
	}
	for _, w := range strings.Fields("settings config cost usage status login search undo sessions clear exit compact resume init review bug feedback quit new " +
		"agents hooks memory permissions mcp model theme keys diff export rewind todos vim doctor terminal-setup approvals logout") {
		if _, ours := find(w); !ours && !seen[w] {
			t.Errorf("/%s is unknown", w)
		}
	}
	if i, err := Run(e, e.Tabs.Focus, "/cost"); i != (intent.Overview{}) || err != nil {
		t.Errorf("/cost wants %v: %v", i, err)
	}
	if i, err := Run(e, e.Tabs.Focus, "/approvals auto"); i != (intent.Mode{Mode: permission.Auto}) || err != nil {
		t.Errorf("/approvals auto wants %v: %v", i, err)
	}
}
