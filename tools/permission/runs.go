package permission

import (
	"path"
	"slices"
	"strings"

	"fantail/tools/permission/shell"
)

// changes says which file that runs by itself a command may change: the command names it, and does more than read. It
// can't see a name that a program or a script makes up: only a sandbox protects against that.
func changes(a Action) string {
	if a.Runs == nil {
		return ""
	}
	command, err := shell.Parse(a.Command)
	if err != nil { // no valid script, or too long to parse
		for _, w := range mentions(a.Command) {
			if why := a.Runs(w); why != "" {
				return why
			}
		}
		return ""
	}
	s := &script{Script: command}
	idle := map[string]int{} // harmless words, each with its number of occurrences
	for _, c := range s.Commands {
		for _, w := range s.harmless(shell.Unwrap(c)) {
			idle[w.Text]++
		}
		if len(c.Given) > 0 && shell.TakesText(shell.Unwrap(c)) && !shell.Writes(shell.Texts(c.Words)) {
			for _, text := range c.Given {
				idle[text]++
			}
		}
	}
	for _, said := range s.Said {
		if idle[said]--; idle[said] >= 0 {
			continue
		}
		for _, w := range mentions(said) {
			if why := a.Runs(w); why != "" && !s.onlyReads(a) {
				return why
			}
		}
	}
	from := s.places()
	if from == nil {
		return "what may run by itself, as it changes the directory many times"
	}
	for _, d := range from {
		for _, w := range s.Writes {
			if !path.IsAbs(w) {
				w = path.Join(d, w)
			}
			if why := a.Runs(w); why != "" {
				return why
			}
		}
		for _, c := range s.Commands {
			c = shell.Unwrap(c)
			for _, w := range c.Words[len(s.harmless(c)):] {
				if why := s.leadsTo(a, w, d); why != "" && !s.onlyReads(a) {
					return why
				}
			}
		}
	}
	return ""
}

// onlyReads reports whether the script only reads in the workspace.
func (s *script) onlyReads(a Action) bool {
	_, reads := s.reads(a)
	return reads
}

// leadsTo says why a word, relative to the directory d, leads to a file that runs by itself, or "".
func (s *script) leadsTo(a Action, w shell.Word, d string) string {
	if w.Pattern != "" {
		return a.Runs(path.Join(d, w.Pattern))
	}
	for _, p := range w.Readings() {
		if p == "" || strings.HasPrefix(p, "-") {
			continue
		}
		if !path.IsAbs(p) {
			p = path.Join(d, p)
		}
		if why := a.Runs(p); why != "" {
			return why
		}
	}
	return ""
}

// interpreters run the script that their first word names.
var interpreters = []string{"bash", "bun", "dash", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh"}

// recording are the git commands that change no file that they name.
var recording = []string{"add", "commit", "diff", "log", "push", "show", "status", "tag"}

// harmless are the words by which a command changes nothing: the program, the script that it runs, and the paths that
// git records, if no option or variable makes git write or run something.
func (s *script) harmless(c shell.Command) []shell.Word {
	name := path.Base(c.Words[0].Text)
	switch {
	case len(c.Words) > 1 && name == "git" && slices.Contains(recording, c.Words[1].Text) && s.Why == "" && len(s.Outs) == 0 && !shell.Writes(shell.Texts(c.Words)):
		return c.Words
	case len(c.Words) > 1 && slices.Contains(interpreters, name) && !strings.HasPrefix(c.Words[1].Text, "-"):
		return c.Words[:2]
	}
	return c.Words[:1]
}
