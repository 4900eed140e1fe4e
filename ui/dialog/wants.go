package dialog

import (
	"fmt"
	"path/filepath"
	"strings"

	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
)

// Wants says in one line what an agent asks for, safe for a terminal.
func Wants(q permission.Question) string {
	a := q.Action
	if verb, _ := act(a); verb == "run a command" {
		return plain(q.Name) + " wants to run  " + plain(a.Command)
	}
	verb, object := act(a)
	return strings.TrimSpace(plain(q.Name) + " wants to " + verb + " " + object)
}

// wants returns the title's text, without the counts of a diff.
func (b *question) wants() string {
	verb, object := act(b.q.Action)
	return strings.TrimSpace(plain(b.q.Name) + " wants to " + verb + " " + object)
}

// title returns the painted title in at most w columns: who wants to do what, and how many lines a
// change adds and removes. A path that does not fit is cut before its last part, and shown whole
// below.
func (b *question) title(w int) string {
	verb, object := act(b.q.Action)
	head := plain(b.q.Name) + " wants to " + verb
	if b.q.Was != "" {
		head = "Run your command for " + plain(b.q.Name) + "?"
	}
	if object != "" && cells.Width(head+" "+object) > w {
		object = "…/" + filepath.Base(object)
	}
	title := b.theme.Paint(themes.Warn, cells.Cut(head, w))
	if object != "" {
		title += b.theme.Paint(themes.Warn, " ") + b.theme.Paint(themes.Heading, cells.Cut(object, max(0, w-cells.Width(head)-1)))
	}
	if added, removed := changed(b.q.Action.Diff); added+removed > 0 {
		plus, minus := fmt.Sprintf("+%d", added), fmt.Sprintf("−%d", removed)
		if cells.Width(title)+3+cells.Width(plus+minus) <= w {
			title += "  " + b.theme.Paint(themes.Good, plus) + " " + b.theme.Paint(themes.Bad, minus)
		}
	}
	return title
}

// act says what an action does, as it follows "wants to": a verb, and what it is done to, which may
// be empty.
func act(a permission.Action) (verb, object string) {
	switch a.Kind {
	case permission.Widen:
		if a.Wants == permission.NetworkRule {
			return "run a command with network access", ""
		}
		return "run a command that writes outside its sandbox", ""
	case permission.Tamper:
		return "keep changes to protected files", ""
	case permission.Foreign:
		return "use " + plain(a.Calls) + " of", plain(a.Server)
	case permission.Abroad:
		return "hand work to", plain(a.Vendor)
	case permission.Write:
		verb = "write"
		if strings.HasPrefix(a.Title, "edit ") {
			verb = "edit"
		}
		if len(a.Paths) == 1 {
			return verb, plain(inWorkspace(a))
		}
		return verb, fmt.Sprintf("%d files", len(a.Paths))
	}
	switch {
	case a.Command != "":
		return "run a command", ""
	case a.Title == "":
		return "use", plain(a.Tool)
	}
	return plain(a.Title), ""
}

// inWorkspace returns the first path of an action: relative to the workspace inside it, else absolute.
func inWorkspace(a permission.Action) string { return within(a, a.Paths[0]) }

// within returns a path of an action: relative to the workspace inside it, else absolute.
func within(a permission.Action, path string) string {
	if rel, err := filepath.Rel(a.Dir, path); err == nil && !a.Outside && a.Dir != "" && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// plain returns a text of an agent in one line that shows all of it.
func plain(s string) string { return cells.CleanLine(cells.Reveal(s)) }

// changed counts the lines that a unified diff adds and removes.
func changed(diff string) (added, removed int) {
	head := true
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			head = false
		case head:
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// choicesOf returns the answers to q.
func choicesOf(q permission.Question) []choice {
	name := plain(q.Name)
	if q.Action.Kind == permission.Tamper {
		return []choice{
			{"y", "1", "Keep the changes", "Keep the changes", "keep", permission.Once},
			{"n", "3", "Put the files back, and tell " + name + " what to do instead", "Put the files back…", "put back", permission.No},
		}
	}
	all := []choice{{"y", "1", "Yes, once", "Yes, once", "once", permission.Once}}
	s := choice{"s", "2", "Yes, and allow " + covers(q.Rule) + " until you quit", "Until you quit", "session", permission.Session}
	if q.Edits {
		all = append(all, choice{"s", "2", "Yes, and allow all agents' edits until Fantail's host ends", "All edits", "edits", permission.Edits})
		s.key, s.digit, s.brief, s.word = "f", "6", "This file", "file"
	}
	if q.Rule != "" {
		all = append(all, s,
			choice{"p", "4", "Yes, and always allow " + covers(q.Rule) + " in this project", "Always here", "project", permission.Project})
	}
	if q.Auto {
		all = append(all, choice{"a", "5", "Stop asking: run commands in the sandbox (auto mode)", "Auto mode", "auto", permission.Freely})
	}
	return append(all, choice{"n", "3", "No, and tell " + name + " what to do instead", "No, instead…", "no", permission.No})
}

// covers says what a rule allows. It shows all of the rule.
func covers(r permission.Rule) string {
	s := plain(string(r))
	for _, is := range [][2]string{{"bash(", ""}, {"write(", "writing "}, {"read(", "reading "}, {"sandbox(", "the sandbox: "}} {
		body, found := strings.CutPrefix(s, is[0])
		if !found || !strings.HasSuffix(body, ")") {
			continue
		}
		body = strings.TrimSuffix(body, ")")
		if is[1] != "" {
			return is[1] + body
		}
		if stem, open := strings.CutSuffix(body, " *"); open {
			body = stem + " …"
		}
		return `"` + body + `"`
	}
	return s
}
