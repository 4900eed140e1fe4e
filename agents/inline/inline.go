// Package inline runs the command lines that stand in skills and commands, !`cmd`, where their text is used.
//
// Does: name those of the workspace's files as what is to be trusted, a part for each file; run one of the user's own, or
// of a file that the user agreed to as it is now, and return what it puts out, in bounds; keep to what rules deny and ask.
//
// Does not: read a file, put the output into a text, ask anybody.
//
// Imports: agents/program, agents/skills, agents/trust, tools, tools/permit, tools/permit/bash, tools/sandbox.
package inline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fantail/agents/program"
	"fantail/agents/skills"
	"fantail/agents/trust"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/permit/bash"
	"fantail/tools/sandbox"
)

const (
	kind  trust.Kind = "command lines"
	lasts            = time.Minute // what one may take
	most             = 16 << 10    // bytes of what one puts out that go on
)

// Source are the files of a shelf whose command lines run only once the user agrees.
func Source(s *skills.Shelf) trust.Source {
	return trust.Source{
		Kind: kind, About: "Command lines of skills and commands run when somebody types the command, or a model uses the skill; what they put out goes to the model.",
		Parts: func() (all []trust.Part) {
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

// part is what is to be trusted of a file that has these lines.
func part(i *skills.Item, all []string) trust.Part {
	p := trust.Part{Kind: kind, Name: i.Source, Path: filepath.Join(i.Dir(), filepath.Base(i.Path))}
	for _, l := range all {
		p.Text += i.Name + " runs: " + strings.ReplaceAll(l, "\n", "\n  ") + "\n"
		p.Commands = append(p.Commands, dirVar.ReplaceAllLiteralString(l, "$CLAUDE_PROJECT_DIR/"+i.Dir()))
	}
	return p
}

// Room runs them. It is safe for concurrent use.
type Room struct {
	Ground program.Ground
	Trust  *trust.Room
	Judge  func(line string) (permit.Verdict, error) // what is decided about a command that an agent would run
}

var _ skills.Runner = (*Room)(nil).Run

// dirVar names the directory of the file.
var dirVar = regexp.MustCompile(`\$CLAUDE_SKILL_DIR\b|\$\{CLAUDE_SKILL_DIR\}`)

// plain is a path that means itself to a shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./@+-]+$`)

// Run runs a line and returns what it put out. The error says why it did not run.
func (r *Room) Run(ctx context.Context, w skills.Wanted) (string, error) {
	dir := filepath.Dir(w.Of.Path)
	if dirVar.MatchString(w.Line) && !plain.MatchString(dir) {
		return "", errors.New("the path of its directory holds what a shell reads as something else")
	}
	if err := r.may(w); err != nil {
		return "", err
	}
	l := program.Line{
		Command: places.ReplaceAllStringFunc(w.Line, parameter), Args: []string{zero(w)},
		Env: []string{"CLAUDE_SKILL_DIR=" + dir}, Timeout: lasts,
	}
	if w.Takes() { // else no way round gets at them, which nobody judged
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

// parameter is what a shell reads at a place: it does not know the arguments by their numbers from 0.
func parameter(ref string) string {
	n, err := strconv.Atoi(places.FindStringSubmatch(ref)[1])
	if err != nil {
		return ref
	}
	return fmt.Sprintf("${%d}", n+1)
}

// head is the beginning of what one put out.
func head(s string) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("\n(%d more bytes were left out)", len(s)-most)
}

// may says why a line does not run; nil: it does.
func (r *Room) may(w skills.Wanted) error {
	if !w.Of.Own() {
		s, is := r.Trust.Look(part(w.Of, w.All))
		switch {
		case s.Fault != nil:
			return fmt.Errorf("it can't be trusted: %w", s.Fault)
		case is != trust.Agreed:
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
		case v.Decision == permit.Deny:
			return errors.New(v.Reason)
		case v.Asked:
			return fmt.Errorf("it %s", v.Reason)
		case w.Takes() && !w.Typed && v.Decision != permit.Allow:
			// The line was agreed to, but not what a model makes of it.
			return errors.New("with these arguments it would be asked about: run it with the tool bash")
		}
	}
	return nil
}

// read are the readings of a line that are judged: as it stands or, where it takes what its file is used for, with that in
// its place, as a shell that read it again would see it, and as the words that it becomes.
func read(w skills.Wanted) ([]string, error) {
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
	parted, err := fill(func(v string) (string, error) { return bash.Quote(strings.Fields(v)) })
	return []string{again, parted}, err
}

// places are where a line takes what its file is used for: one of the arguments, by its number from 0 or, as shells do,
// from 1; how many they are; or all of them.
var places = regexp.MustCompile(`\$ARGUMENTS\[(\d{1,4})\]|\$\{(\d{1,4}|ARGUMENTS|[@*#])\}|\$(\d|ARGUMENTS\b|[@*#])`)

// stands is what stands at a place for the shell that runs the line.
func stands(w skills.Wanted, ref string) []string {
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

// zero is what a line has as its $0.
func zero(w skills.Wanted) string { return "/" + w.Of.Name }
