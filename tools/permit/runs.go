package permit

import (
	"path"
	"slices"
	"strings"

	"fantail/tools/permit/bash"
	"fantail/tools/permit/programs"
)

// changes says what that runs by itself a command may change: it names it, and does more than read. Where a program makes
// up the name, or a script that is run does, that is not seen: only a sandbox keeps those from it.
func changes(a Action) string {
	if a.Runs == nil {
		return ""
	}
	command, err := bash.Parse(a.Command)
	if err != nil { // what no shell reads, or is too long to be taken apart
		for _, w := range mentions(a.Command) {
			if why := a.Runs(w); why != "" {
				return why
			}
		}
		return ""
	}
	s := &script{Script: command}
	idle := map[string]int{} // words that say what is run, or what git is told of it: how often each stands there
	for _, c := range s.Commands {
		for _, w := range s.harmless(programs.Unwrap(c)) {
			idle[w.Text]++
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
			c = programs.Unwrap(c)
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

// leadsTo says what that runs by itself a word leads to that counts from the directory d.
func (s *script) leadsTo(a Action, w bash.Word, d string) string {
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

// recording are what git does that changes no file which it names.
var recording = []string{"add", "commit", "diff", "log", "push", "show", "status", "tag"}

// harmless are the words of a command by which it changes nothing: the program, the script that it runs, and what git
// records, if neither an option nor a variable has git write or run something.
func (s *script) harmless(c bash.Command) []bash.Word {
	name := path.Base(c.Words[0].Text)
	switch {
	case len(c.Words) > 1 && name == "git" && slices.Contains(recording, c.Words[1].Text) && s.Why == "" && !programs.Writes(bash.Texts(c.Words)):
		return c.Words
	case len(c.Words) > 1 && slices.Contains(interpreters, name) && !strings.HasPrefix(c.Words[1].Text, "-"):
		return c.Words[:2]
	}
	return c.Words[:1]
}
