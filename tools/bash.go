package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fantail/tools/files"
	"fantail/tools/git"
	"fantail/tools/permission"
	"fantail/tools/permission/shell"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

//go:embed bash.md
var bashText string

const (
	bashTimeout = 120 // seconds
	bashMost    = 600
	bashHead    = 12 << 10 // bytes of the output a result shows from its start
	bashTail    = 12 << 10 // and from its end

	bashProcesses = 1024 // concurrent processes of a command in a sandbox
)

// decided are programs that a variable makes another thing of.
var decided = map[string]string{"rg": "RIPGREP_CONFIG_PATH", "cd": "CDPATH"}

func bash() tool {
	return tool{
		name: "bash", text: bashText,
		schema: `{"type":"object","properties":{` +
			`"command":{"type":"string","description":"The command, as for bash -c"},` +
			`"timeout":{"type":"integer","description":"Seconds after which it is ended, 1 to 600; default 120"}},` +
			`"required":["command"],"additionalProperties":false}`,
		parse: parseBash,
		title: func(a loose) string { return "bash " + a.word("command") },
	}
}

func parseBash(c call) (*Call, error) {
	a, err := decode[struct {
		Command string `json:"command"`
		Timeout *int   `json:"timeout"`
	}](c)
	if err == nil {
		err = need("command", strings.TrimSpace(a.Command))
	}
	if err == nil && strings.ContainsRune(a.Command, 0) {
		err = errors.New("the command contains a NUL byte")
	}
	seconds := bashTimeout
	if a.Timeout != nil && err == nil {
		seconds = *a.Timeout
		err = between("timeout", seconds, 1, bashMost)
	}
	if err != nil {
		return nil, err
	}
	act := c.action(permission.Command)
	tree := c.env.tree()
	act.Command, act.Files = a.Command, tree.Stamps
	act.Leads = func(path string, pattern bool) string {
		if pattern {
			return tree.LeadsAny(path)
		}
		return tree.Leads(path)
	}
	act.Git = func(reads bool) string {
		if reads {
			return git.RunsWhenReading(c.env.Root)
		}
		return git.Runs(c.env.Root, c.env.Environ)
	}
	act.Secrets, act.Runs, act.Writing = tree.Secret, tree.Runs, c.env.Writing
	act.Strays = func(program string) string {
		if name := decided[program]; name != "" && c.env.lookup(name) != "" {
			return name + " says what " + program + " does"
		}
		return tree.Stray(program, c.env.path())
	}
	act.Listed = func(words []string) string {
		names, err := git.List(tree.Program("git", c.env.path()), c.env.Root, c.env.Environ, words)
		if err != nil {
			return "secrets: " + err.Error()
		}
		for _, n := range names {
			if why := shell.SensitiveFile(n); why != "" {
				return why
			}
			if c.env.Barred != nil {
				if why := c.env.Barred(filepath.Join(c.env.Root, n)); why != "" {
					return why
				}
			}
		}
		return ""
	}
	act.Boxed = c.env.Box != nil
	leave := &Leave{}
	touches := func() []string { return files.Touched(c.env.Root, a.Command) }
	return &Call{Action: act, Leave: leave, Touches: touches, Run: func(ctx context.Context) Result {
		defer c.env.Changes.Runs()()
		s := proc.Spec{Shell: a.Command, Env: c.env.Environ, Timeout: time.Duration(seconds) * time.Second}
		if shell.GitReads(a.Command) {
			s.Env = git.Calm(s.Env)
		}
		if c.env.Box != nil && !leave.Free {
			if err := c.env.hold(&s, leave); err != nil {
				return fail("bash: %v", err)
			}
		}
		r := c.env.command(ctx, c.id, s)
		if ctx.Err() == nil {
			r.told(s.Box, a.Command)
		}
		return r
	}}, nil
}

// complaints are the lines of an output in which programs report errors: "name: error".
func complaints(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if name, _, ok := strings.Cut(line, ": "); ok && name != "" && !strings.ContainsAny(name, " \t:\"'`") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// told adds to a command's result what its sandbox hid from it, and what it seems to have refused. A command that
// continued and reports success is not run again, and no question is asked.
func (r *Result) told(b *sandbox.Box, command string) {
	output := ""
	if r.Error {
		output = r.Text
		r.Refused = refused(b, output)
	} else if missed := refused(b, complaints(r.Text)); missed != nil {
		r.Lacks = lacks(missed.Rule)
		r.note("its sandbox keeps it from " + missed.Says + ", though it ends with exit code 0: what it would have done there is not done; a rule can add " + string(missed.Rule))
		return
	}
	if name := b.Missed(command); name != "" && !r.Error {
		r.Lacks = lacks(permission.NetworkRule)
		r.note("its sandbox has no network, though it ends with exit code 0: what " + name + " was to fetch is missing; a rule can add " + string(permission.NetworkRule))
		return
	}
	if r.Refused != nil {
		r.note("its sandbox keeps it from " + r.Refused.Says)
	} else if h := b.Hidden(command, output); h != "" {
		r.note("its sandbox hides " + h + " and shows it as empty; read_file asks the user for one file of it")
	}
}

// lacks says in a few words what a command lacked without a rule. Its result names the rule.
func lacks(rule permission.Rule) string {
	if rule == permission.NetworkRule {
		return "no network in the sandbox"
	}
	return "the sandbox kept it from writing"
}

// note adds a line of the tool's own to a result.
func (r *Result) note(text string) {
	r.Text = strings.TrimLeft(strings.TrimRight(r.Text, "\n")+"\n["+text+"]", "\n")
}

// refused returns what a failed command's sandbox seems to have refused; nil: nothing.
func refused(b *sandbox.Box, output string) *Refusal {
	what, found := b.Refused(output)
	switch {
	case !found:
		return nil
	case what.Write != "":
		return &Refusal{Rule: permission.WriteRule(what.Write), Says: "changing " + what.Write}
	case what.Host != "":
		return &Refusal{Rule: permission.NetworkRule, Says: "reaching " + what.Host + ": it has no network"}
	}
	return &Refusal{Rule: permission.NetworkRule, Says: "the network"}
}

// hold puts a command into the sandbox that leave describes.
func (e *Runtime) hold(s *proc.Spec, leave *Leave) (err error) {
	write := leave.Write
	if tracks, remote := shell.Tracks(s.Shell); tracks {
		if file := git.Tracking(e.Root, e.Environ, e.home(), remote); file != "" {
			write, s.Env = append(slices.Clip(write), file), e.steady(s.Env)
		}
	}
	if s.Box, err = e.Box(sandbox.Leave{Write: write, Network: leave.Network, Mail: leave.Mail}); err == nil {
		s.Limits = proc.Limits{Processes: bashProcesses, Memory: proc.Memory() / 4 * 3}
	}
	return err
}

// steady returns an environment in which a shell finds no program that a command may have written: none in the
// workspace or in a temporary directory, and no start-up file.
func (e *Runtime) steady(environ []string) (steady []string) {
	written := []string{e.Root, "/tmp", "/var/tmp"}
	if real, err := filepath.EvalSymlinks(e.Root); err == nil {
		written = append(written, real)
	}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "BASH_ENV", "ENV":
			continue
		case "PATH":
			dirs := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool {
				real, err := filepath.EvalSymlinks(dir)
				return err != nil || !filepath.IsAbs(dir) || slices.ContainsFunc(written, func(w string) bool { return strings.HasPrefix(real+"/", w+"/") })
			})
			v = name + "=" + strings.Join(dirs, string(filepath.ListSeparator))
		}
		steady = append(steady, v)
	}
	return steady
}

// Command runs a command of the human's in the workspace, like bash but without a question and a time-out: ctx ends it.
// leave describes its sandbox; nil: it runs as the user.
func (e *Runtime) Command(ctx context.Context, id, command string, leave *Leave) Result {
	s := proc.Spec{Shell: command, Env: e.Environ}
	if leave != nil {
		if err := e.hold(&s, leave); err != nil {
			return fail("bash: %v", err)
		}
	}
	r := e.command(ctx, id, s)
	if ctx.Err() == nil && s.Box != nil {
		r.told(s.Box, command)
	}
	return r
}

// command runs a command in the workspace.
func (e *Runtime) command(ctx context.Context, callID string, s proc.Spec) Result {
	file, err := e.output(callID)
	if err != nil {
		return fail("bash: %v", err)
	}
	if s.Dir == "" {
		s.Dir = e.Root
	}
	s.Umask, s.Keys, s.Hurry, s.Keep, s.Ahead = e.Umask, e.Keys, e.Hurry, e.Keep, e.Ahead
	s.Output, s.Head, s.Tail = file, bashHead, bashTail
	if e.Started != nil {
		s.Started = func(g proc.Group) error { return e.Started(ctx, callID, file, g) }
	}
	if e.Tick != nil {
		s.Tick = func(tail string) { e.Tick(callID, strings.ToValidUTF8(tail, "\uFFFD")) }
	}
	r, err := proc.Run(ctx, s)
	if err != nil {
		if ctx.Err() == nil {
			return fail("bash: %v", err)
		}
		r.Exit = -1 // its exit code after TERM is no result
	}
	out := Result{Text: strings.ToValidUTF8(r.Text, "\uFFFD"), Exit: &r.Exit, Error: r.Exit != 0 || r.TimedOut || r.Over != "" || err != nil}
	if r.Cut {
		out.File = file
	}
	var notes []string
	switch {
	case err != nil:
		notes = append(notes, "stopped before it ended")
	case r.Over != "":
		notes = append(notes, "ended: "+r.Over)
	case r.TimedOut:
		note := fmt.Sprintf("ended after %v: the time was up", s.Timeout)
		if len(s.Argv) == 0 {
			note += fmt.Sprintf("; a call may set timeout up to %d", bashMost)
		}
		notes = append(notes, note)
	case r.Signal != "":
		notes = append(notes, "ended by the signal "+r.Signal)
	case r.Exit != 0:
		notes = append(notes, fmt.Sprintf("exit code %d", r.Exit))
	case r.Size == 0:
		notes = append(notes, "no output")
	}
	if r.Left {
		notes = append(notes, "processes left running in the background were ended with the command")
	}
	if len(notes) > 0 {
		if out.Text != "" && !strings.HasSuffix(out.Text, "\n") {
			out.Text += "\n"
		}
		out.Text += "[" + strings.Join(notes, "; ") + "]"
	}
	return out
}

// output names the file for a call's output, in a directory that exists.
func (e *Runtime) output(callID string) (string, error) {
	if e.Outputs == "" {
		return "", nil
	}
	if err := os.MkdirAll(e.Outputs, 0o700); err != nil {
		return "", fmt.Errorf("make the directory for output: %w", err)
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, callID)
	if len(name) > 80 {
		name = name[:80]
	}
	if name == "" {
		name = "call"
	}
	// A provider may use an id again: an existing output is never overwritten.
	for i := 1; i < 10_000; i++ {
		file := filepath.Join(e.Outputs, name+".out")
		if i > 1 {
			file = filepath.Join(e.Outputs, fmt.Sprintf("%s-%d.out", name, i))
		}
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("create output file: %w", err)
		}
		return file, f.Close()
	}
	return "", fmt.Errorf("create output file: %s has too many outputs of the call %s", e.Outputs, name)
}
