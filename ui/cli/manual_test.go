package cli_test

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fantail/.ci/long"
	"fantail/ui/cli"
	"fantail/ui/manual"
)

var (
	shellBlock = regexp.MustCompile("(?sm)^```sh\n(.*?)^```")
	anyBlock   = regexp.MustCompile("(?sm)^```.*?^```")
	shellSpan  = regexp.MustCompile("`(fantail [^`]*)`")
	assigned   = regexp.MustCompile(`^[A-Z_]+=`)
	forms      = strings.NewReplacer("--permission-mode MODE", "--permission-mode auto", "help PAGE", "help mail", "help [SUB", "help")
)

// simple are the commands of a shell line, each as its words. A remark ends the line.
func simple(line string) (all [][]string) {
	var words []string
	word, quote, open := "", rune(0), false
	end := func() {
		if open {
			words = append(words, word)
		}
		word, open = "", false
	}
	for _, r := range line + "\n" {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ':
			end()
		case r == '\n' || strings.ContainsRune("|;&<>", r) || r == '#' && !open:
			end()
			if len(words) > 0 {
				all = append(all, words)
			}
			if words = nil; r == '#' {
				return all
			}
		default:
			word, open = word+string(r), true
		}
	}
	return all
}

// calls are the arguments with which a page says to call fantail.
func calls(text string) (all [][]string) {
	var lines []string
	for _, b := range shellBlock.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(b[1], "\n")...)
	}
	for _, m := range shellSpan.FindAllStringSubmatch(anyBlock.ReplaceAllString(text, ""), -1) {
		lines = append(lines, m[1])
	}
	for _, line := range lines {
		for _, words := range simple(forms.Replace(line)) {
			for len(words) > 1 && assigned.MatchString(words[0]) {
				words = words[1:]
			}
			if words[0] == "fantail" {
				all = append(all, words[1:])
			}
		}
	}
	return all
}

// ends reports whether a call ends by itself, and needs no model, network or host.
func ends(args []string) bool {
	if len(args) == 1 && args[0] == "send" { // it is only named
		return false
	}
	if len(args) == 0 || slices.Contains(args, "--follow") {
		return false
	}
	second := ""
	if len(args) > 1 {
		second = args[1]
	}
	switch args[0] {
	case "send", "push", "inbox", "check", "queue", "show", "memory", "schedule", "audit", "ls", "doctor", "help":
		return true
	case "host":
		return second == "status" || second == "log" || second == "stop"
	case "mcp":
		return second == "list"
	case "agents":
		return !slices.Contains([]string{"spawn", "attach"}, second)
	}
	return false
}

// TestManualCalls: each call of fantail in the README and the manual is one that the program knows, and those that need nothing
// else are made. Where what they speak of is not there, they say so.
func TestManualCalls(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"README": string(readme)}
	for _, name := range manual.Names() {
		page, _ := manual.Find(name)
		texts[name] = page.Text
	}
	lacks := regexp.MustCompile(`there is no |no such agent|no memory document|nobody used fantail|no host|has no |No agent`)
	s, made := newSite(t), map[string]bool{}
	ran, most := 0, long.Times(12, 1<<20)
	for name, text := range texts { // in another order each time
		for _, args := range calls(text) {
			call := strings.Join(args, " ")
			if made[call] {
				continue
			}
			made[call] = true
			if _, err := cli.Parse(args, io.Discard); err != nil {
				t.Errorf("%s.md: fantail %s: %v", name, call, err)
			}
			if !ends(args) || ran == most {
				continue
			}
			ran++
			if out, errs, code := s.run(t, "x", args...); code != ok && code != nothing && !lacks.MatchString(errs) {
				t.Errorf("%s.md: fantail %s: exit code %d: %s%s", name, call, code, out, errs)
			}
		}
	}
	if len(made) < 50 {
		t.Errorf("only %d calls were found", len(made))
	}
}
