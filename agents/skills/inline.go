package skills

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fantail/agents/hooks"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/permission/shell"
	"fantail/tools/sandbox"
)

const (
	kind  hooks.TrustKind = "command lines"
	lasts                 = time.Minute // time-out of a line
	most                  = 16 << 10    // bytes of a line's output that are inserted
)

// InlineSource returns the files of a Catalog whose command lines run only once the user agrees.
func InlineSource(s *Catalog) hooks.TrustSource {
	return hooks.TrustSource{
		Kind: kind, About: "Command lines of skills and commands run when somebody types the command, or a model uses the skill; what they put out goes to the model.",
		Parts: func() (all []hooks.TrustPart) {
			if s == nil {
				return nil
			}
			for _, i := range s.Now().Items {
				if i.Out == "" && !i.Own() && len(i.Lines()) > 0 {
					all = append(all, part(i, i.Lines()))
				}
			}
			return all
		},
	}
}

// part returns what the user must trust of a file with these lines.
func part(i *Item, all []string) hooks.TrustPart {
	p := hooks.TrustPart{Kind: kind, Name: i.Source, Path: filepath.Join(i.Dir(), filepath.Base(i.Path))}
	for _, l := range all {
		p.Text += i.Name + " runs: " + strings.ReplaceAll(l, "\n", "\n  ") + "\n"
		p.Commands = append(p.Commands, dirVar.ReplaceAllLiteralString(l, "$CLAUDE_PROJECT_DIR/"+i.Dir()))
	}
	return p
}

// InlineCommands runs the command lines. It is safe for concurrent use.
type InlineCommands struct {
	Ground hooks.ProgramOptions
	Trust  *hooks.TrustStore
	Judge  func(line string) (permission.Verdict, error) // the gate's decision on a command that an agent would run
}

var _ Runner = (*InlineCommands)(nil).Run

// dirVar names the directory of the file.
var dirVar = regexp.MustCompile(`\$CLAUDE_SKILL_DIR\b|\$\{CLAUDE_SKILL_DIR\}`)

// plain matches a path without characters that are special to a shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./@+-]+$`)

// Run runs a line and returns its output. The error says why it did not run.
func (r *InlineCommands) Run(ctx context.Context, w Wanted) (string, error) {
	dir := filepath.Dir(w.Of.Path)
	if dirVar.MatchString(w.Line) && !plain.MatchString(dir) {
		return "", errors.New("the path of its directory holds what a shell reads as something else")
	}
	if err := r.may(w); err != nil {
		return "", err
	}
	l := hooks.ProgramLine{
		Command: places.ReplaceAllStringFunc(w.Line, parameter), Args: []string{zero(w)},
		Env: []string{"CLAUDE_SKILL_DIR=" + dir}, Timeout: lasts,
	}
	if w.Takes() { // otherwise the line must not reach the arguments in any way, since they were not judged
		l.Args, l.Env = append(l.Args, w.Words...), append(l.Env, "ARGUMENTS="+w.Args)
	}
	if !w.Of.Own() {
		l.Profile = sandbox.Command
	}
	d := r.Ground.Run(ctx, l)
	switch {
	case d.Fault != "":
		return "", errors.New(d.Fault)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case d.TimedOut:
		return head(d.Out) + fmt.Sprintf("\n(it did not end within %v, and was ended)", lasts), nil
	case d.Signal != "":
		return head(d.Out) + "\n(it was ended by " + d.Signal + ")", nil
	case d.Exit != 0:
		return head(strings.TrimRight(d.Out, "\n")+"\n"+d.Err) + fmt.Sprintf("\n(exit code %d)", d.Exit), nil
	}
	return head(d.Out), nil
}

// parameter returns the shell's form of a reference: the shell has no arguments numbered from 0.
func parameter(ref string) string {
	n, err := strconv.Atoi(places.FindStringSubmatch(ref)[1])
	if err != nil {
		return ref
	}
	return fmt.Sprintf("${%d}", n+1)
}

// head returns the beginning of a line's output.
func head(s string) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("\n(%d more bytes were left out)", len(s)-most)
}

// may says why a line may not run; nil: it may.
func (r *InlineCommands) may(w Wanted) error {
	if !w.Of.Own() {
		s, is := r.Trust.Look(part(w.Of, w.All))
		switch {
		case s.Fault != nil:
			return fmt.Errorf("it can't be trusted: %w", s.Fault)
		case is != hooks.Agreed:
			return fmt.Errorf("the user has not agreed to it (%s); /trust shows it and asks", is)
		}
	}
	given, err := read(w)
	if err != nil {
		return err
	}
	for _, line := range given {
		v, err := r.Judge(line)
		switch {
		case err != nil:
			return err
		case v.Decision == permission.Deny:
			return errors.New(v.Reason)
		case v.Asked:
			return fmt.Errorf("it %s", v.Reason)
		case w.Takes() && !w.Typed && v.Decision != permission.Allow:
			// The line was agreed to, but not what a model makes of it.
			return errors.New("with these arguments it would be asked about: run it with the tool bash")
		}
	}
	return nil
}

// read returns the forms of a line that are judged: as it is or, if it uses arguments, with these inserted, once as a
// shell that read the line again would see it, and once as the words that result.
func read(w Wanted) ([]string, error) {
	if !w.Takes() {
		return []string{w.Line}, nil
	}
	fill := func(as func(string) (string, error)) (line string, err error) {
		line = places.ReplaceAllStringFunc(w.Line, func(ref string) string {
			var all []string
			for _, v := range stands(w, ref) {
				text, e := as(v)
				if e != nil {
					err = errors.New("its arguments can't be given to a command: " + tools.Line(e.Error()))
				}
				all = append(all, text)
			}
			return strings.Join(all, " ")
		})
		return line, err
	}
	again, err := fill(func(v string) (string, error) { return v, nil })
	if err != nil {
		return nil, err
	}
	parted, err := fill(func(v string) (string, error) { return shell.Quote(strings.Fields(v)) })
	return []string{again, parted}, err
}

// places matches references to arguments in a line: one of them, by its number from 0 or, as shells do, from 1; their
// count; or all of them.
var places = regexp.MustCompile(`\$ARGUMENTS\[(\d{1,4})\]|\$\{(\d{1,4}|ARGUMENTS|[@*#])\}|\$(\d|ARGUMENTS\b|[@*#])`)

// stands returns the words that the shell has at a reference when it runs the line.
func stands(w Wanted, ref string) []string {
	m := places.FindStringSubmatch(ref)
	name := m[2] + m[3]
	n, err := strconv.Atoi(m[1] + name)
	if m[1] != "" {
		n++
	}
	switch {
	case name == "@" || name == "*":
		return w.Words
	case name == "#":
		return []string{strconv.Itoa(len(w.Words))}
	case err != nil:
		return []string{w.Args}
	case n == 0:
		return []string{zero(w)}
	case n > len(w.Words):
		return nil
	}
	return w.Words[n-1 : n]
}

// zero returns the $0 of a line.
func zero(w Wanted) string { return "/" + w.Of.Name }
