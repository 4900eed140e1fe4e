package slash

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/instructions"
	"fantail/agents/turn"
	"fantail/ui/cells"
)

// instructionRules reports which instruction files are in force, and changes which are allowed.
type instructionRules interface {
	Report(ctx context.Context, i event.Info) (instructions.BriefReport, error)
	Allow(name string) (string, error)
	Forbid(name string) (string, error)
}

// InstructionVerbs returns the words that may follow /memory files.
func InstructionVerbs() []string { return []string{"allow ", "forbid "} }

// InstructionFiles returns a function for /memory files with the arguments rest. ok is false if
// they are not understood.
func InstructionFiles(r instructionRules, i event.Info, rest string) (do func(ctx context.Context) (string, error), ok bool) {
	verb, name, _ := strings.Cut(strings.TrimSpace(rest), " ")
	name = strings.TrimSpace(name)
	switch {
	case verb == "" && name == "":
		return func(ctx context.Context) (string, error) {
			p, err := r.Report(ctx, i)
			return listInstructions(i, p), err
		}, true
	case verb == "allow" && name != "":
		return func(context.Context) (string, error) {
			name, err := r.Allow(name)
			return cells.CleanLine(name) + " is used from now on; agents get it at the start of their next turn", err
		}, true
	case verb == "forbid" && name != "":
		return func(context.Context) (string, error) {
			name, err := r.Forbid(name)
			return cells.CleanLine(name) + " is not used any more; agents learn this at the start of their next turn", err
		}, true
	}
	return nil, false
}

// listInstructions returns a report as text.
func listInstructions(i event.Info, p instructions.BriefReport) string {
	name := cells.CleanLine(i.Name)
	if !p.Follows {
		return name + " gets no instruction files: an observer follows its schedule"
	}
	var b strings.Builder
	if len(p.Lines) == 0 {
		b.WriteString("No instruction files. /init to have an agent write AGENTS.md")
	} else {
		fmt.Fprintf(&b, "Instruction files that %s follows, about %s together:", name, tokens(p.Tokens))
	}
	wide := 0
	for _, l := range p.Lines {
		wide = max(wide, min(44, cells.Width(l.Name)))
	}
	waits := false
	for _, l := range p.Lines {
		if (l.How == "waits") != waits {
			waits = true
			b.WriteString("\nNot yet:")
		}
		fmt.Fprintf(&b, "\n  %-*s  %6s  %s", wide, cells.CleanLine(l.Name), number(l.Tokens), how(l))
	}
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			b.WriteString("\n" + title)
		}
		for _, l := range lines {
			b.WriteString("\n  " + cells.CleanLine(l))
		}
	}
	var notes []string
	seen := map[string]bool{}
	for _, n := range p.Notes {
		if s := n.String(); !seen[s] {
			seen[s] = true
			notes = append(notes, s)
		}
	}
	section("Not used, or not all of it:", notes)
	section("Allowed from outside the workspace (/memory files forbid to remove):", p.Allowed)
	return b.String()
}

// how says how the agent got a file.
func how(l instructions.BriefLine) string {
	switch by := cells.CleanLine(l.By); l.How {
	case "import":
		return "imported by " + by
	case "touched":
		return "since a tool touched its files"
	case "changed":
		return "sent again: it changed"
	case "new":
		return "sent later: the file is new"
	case "next":
		return "changed; sent at the start of the next turn"
	case "gone":
		return "gone; the agent was told"
	case "waits":
		return "joins when a tool touches " + by
	}
	return "from the start"
}

// InstructionsSum returns the cost of an agent's instruction files, in one line; "": it has none.
func InstructionsSum(p instructions.BriefReport) string {
	if len(p.Lines) == 0 {
		return ""
	}
	return fmt.Sprintf("Instruction files: ~%s, %s of them in the system prompt. /memory files to list them.", tokens(p.Tokens), number(p.Start))
}

// InstructionsFound says, for doctor, which instruction files exist, and what of them is not used.
func InstructionsFound(s *instructions.Set) (says string, notes []string) {
	names := make([]string, 0, len(s.Files))
	for _, f := range s.Files {
		names = append(names, f.Name)
	}
	const most = 8
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	says = "none"
	if len(names) > 0 {
		says = strings.Join(names, ", ")
	}
	if n := len(s.Rules); n > 0 {
		says += fmt.Sprintf("; %d for files of certain paths", n)
	}
	for _, n := range s.Notes {
		notes = append(notes, n.String())
	}
	return says, notes
}

// InitText returns the prompt that has an agent write an AGENTS.md, followed by the human's hint.
func InitText(hint string) string {
	if hint = strings.TrimSpace(hint); hint != "" {
		return turn.InitPrompt() + "\n" + hint
	}
	return turn.InitPrompt()
}

func tokens(n int) string { return number(n) + " tokens" }

// number formats n with commas between thousands.
func number(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return number(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
