package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fantail/tools"
	"fantail/tools/permission"
	"fantail/ui/manual"
	"fantail/ui/screen"
	"fantail/ui/shell"
)

// Flags are the parsed arguments.
type Flags struct {
	Print bool // no screen: one prompt, one answer
	// Prompt is that of Print, without the text from standard input. Without Print it is sent to main, as if typed on the
	// screen; "": none.
	Prompt string
	Format Format
	Resume string // with Print: conversation to continue; "": a new one
	Last   bool   // with Print: continue the last one
	Model  string // provider/name; "" if not given
	Mode   permission.Mode
	Moded  bool    // Mode was given
	Keep   bool    // yolo outlives the last screen
	Dir    string  // where to start; "" means here
	Errand *Errand // a sub-command; nil: none
	Bare   bool    // nothing to run: help or the version was asked for and printed
}

const about = `Fantail is a full-screen coding assistant whose agents work in parallel and
mail you their results.

Without arguments it starts in the workspace of the present directory: the
nearest git root, else the directory itself. A prompt in quotes, or after --, is
sent to main as if it were typed there. With -p it needs no screen: it
carries out one prompt in the same workspace, in a conversation of its own,
prints the answer and ends when all work it started is done. What would ask a
question is then denied, with the reason, unless --permission-mode or a
configured rule allows it.`

const examples = `  fantail
  fantail "explain the layout of this repository"
  fantail -p "explain the layout of this repository"
  git diff | fantail -p "review this change" --output-format json
  fantail -p "run go vet ./..." --permission-mode yolo
  fantail -p --continue "and now the tests"

Exit codes: 0 done, 1 failed, 2 wrong usage, 128+n ended by signal n.`

// none is the value of -p if the prompt follows as an argument. It can't be typed.
const none = "\x00"

// Parse reads the arguments without the program's name. It writes help and version to out.
func Parse(args []string, out io.Writer) (Flags, error) {
	f := Flags{Format: Text, Mode: permission.Ask}
	var prompt, format, mode, agent string
	var yolo bool
	root := &cobra.Command{
		Use: "fantail", Version: screen.Version(), Args: cobra.ArbitraryArgs,
		SilenceErrors: true, SilenceUsage: true,
	}
	fs := root.Flags()
	fs.SortFlags = false
	fs.StringVarP(&prompt, "print", "p", "", "answer `PROMPT` without a screen; standard input is appended")
	fs.Lookup("print").NoOptDefVal = none
	fs.StringVar(&format, "output-format", string(Text), "with -p: `text`, json or stream-json")
	fs.BoolVarP(&f.Last, "continue", "c", false, "with -p: go on with its last conversation")
	fs.StringVarP(&f.Resume, "resume", "r", "", "with -p: go on with the conversation `NAME`")
	fs.StringVar(&f.Model, "model", "", "the model, as `PROVIDER/NAME`")
	fs.StringVar(&agent, "agent", "", "a vendor's agent (`claude`, codex, opencode) or, with -p, a file's")
	fs.StringVar(&mode, "permission-mode", string(permission.Ask), "`ask`, accept-edits, auto, plan or yolo")
	fs.BoolVar(&yolo, "yolo", false, "the same as --permission-mode yolo: nothing asks")
	fs.BoolVar(&f.Keep, "keep", false, "with yolo: it holds on when the last screen leaves")
	fs.StringVar(&f.Dir, "cwd", "", "start in `DIR`")
	f.Bare = true // until the command itself runs
	if e, is, err := ParseErrand(args, out); is {
		return Flags{Errand: e, Bare: e == nil && err == nil}, err
	}
	root.RunE = func(c *cobra.Command, words []string) error {
		if !fs.Changed("print") && len(words) > 0 && words[0] == "help" && fs.ArgsLenAtDash() != 0 {
			return helpOn(out, c.Flags(), words[1:])
		}
		f.Bare = false
		if agent != "" {
			if f.Model != "" {
				return shell.Misused("--agent takes the place of --model: give one of them")
			}
			f.Model = tools.VendorModel(agent)
		}
		if err := f.print(fs, prompt, words); err != nil {
			return err
		}
		if f.Keep && f.Print {
			return shell.Misused("--keep does not go with -p: nothing stays")
		}
		if err := f.goesOn(fs); err != nil {
			return err
		}
		if err := f.format(fs, format); err != nil {
			return err
		}
		return f.mode(fs, mode, yolo)
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return shell.Misspelt(fs, err) })
	root.SetVersionTemplate("fantail {{.Version}}\n")
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { help(out, c.Flags()) })
	root.SetArgs(append([]string{}, args...)) // nil would be the process's own
	root.SetOut(out)
	root.SetErr(out)
	if err := root.Execute(); err != nil {
		var u *shell.UsageError
		if !errors.As(err, &u) {
			err = shell.Misused("%v", err)
		}
		return Flags{}, err
	}
	return f, nil
}

// helpOn prints the help on a sub-command, a page of the manual, or all of the help.
func helpOn(out io.Writer, fs *pflag.FlagSet, words []string) error {
	if len(words) == 0 {
		help(out, fs)
		return nil
	}
	described := DescribeErrand(out, words[0])
	if p, ok := manual.Find(words[0]); ok { // a few pages have the name of a sub-command
		if described {
			fmt.Fprintln(out)
		}
		fmt.Fprint(out, p.Text)
		return nil
	}
	if described {
		return nil
	}
	names := slices.Concat(ErrandNames(), manual.Names())
	return shell.Misused("there is no sub-command or page %q%s; fantail help lists them", words[0], shell.Meant(words[0], names))
}

// help prints the help on the command line.
func help(out io.Writer, fs *pflag.FlagSet) {
	fmt.Fprintf(out, "%s\n\nUsage:\n  fantail [PROMPT | -- PROMPT]\n  fantail -p PROMPT\n  fantail help [SUB-COMMAND | PAGE]\n\nFrom scripts and other shells, beside a running program or without one:\n", about)
	ListErrands(out)
	fmt.Fprintf(out, "\nPages of the manual, for fantail help PAGE:\n")
	for _, name := range manual.Names() {
		if p, ok := manual.Find(name); ok {
			fmt.Fprintf(out, "  %-15s %s\n", name, p.Title)
		}
	}
	fmt.Fprintf(out, "\nFlags:\n")
	shell.ListFlags(out, fs)
	fmt.Fprintf(out, "\nExamples:\n%s\n", examples)
}

// print reads the prompt, which follows -p, is in --print=PROMPT, or comes from standard input. A prompt for the screen
// follows `--`, or has a blank.
func (f *Flags) print(fs *pflag.FlagSet, prompt string, words []string) error {
	if !fs.Changed("print") {
		dashed := fs.ArgsLenAtDash() == 0 // all words follow `--`
		switch all := strings.Join(words, " "); {
		case len(words) == 0:
		case dashed && strings.TrimSpace(all) == "", len(words) == 1 && strings.TrimSpace(all) == "":
			return shell.Misused("the prompt is empty")
		case dashed, len(words) == 1 && screen.Prompts(all):
			f.Prompt = all
		case screen.Prompts(words[0]):
			return shell.Misused("fantail takes one prompt, got %d words: put quotes around it", len(words))
		default:
			return shell.Misused("unknown argument %q%s; a prompt is: fantail -- %s, and one without a screen: fantail -p %q", words[0], shell.Meant(words[0], append(ErrandNames(), "help")), all, all)
		}
		return nil
	}
	f.Print = true
	if prompt != none {
		words = append([]string{prompt}, words...)
	}
	switch len(words) {
	case 0:
	case 1:
		f.Prompt = words[0]
	default:
		return shell.Misused("-p takes one prompt, got %d words: put quotes around it", len(words))
	}
	return nil
}

// goesOn checks the flags that choose a conversation to continue.
func (f *Flags) goesOn(fs *pflag.FlagSet) error {
	resumes := fs.Changed("resume")
	switch {
	case !f.Print && f.Last:
		return shell.Misused("--continue goes with -p; fantail by itself shows where main is")
	case !f.Print && resumes:
		return shell.Misused("--resume goes with -p; on a screen it is /resume NAME")
	case f.Last && resumes:
		return shell.Misused("--continue and --resume contradict each other: give one")
	case resumes && f.Resume == "":
		return shell.Misused("--resume needs the name of a conversation: session_id in the JSON forms has it")
	}
	return nil
}

func (f *Flags) format(fs *pflag.FlagSet, s string) error {
	if fs.Changed("output-format") && !f.Print {
		return shell.Misused("--output-format goes with -p")
	}
	known := []string{string(Text), string(JSON), string(StreamJSON)}
	if !slices.Contains(known, s) {
		return shell.Misused("--output-format %q: it is text, json or stream-json%s", s, shell.Meant(s, known))
	}
	f.Format = Format(s)
	return nil
}

func (f *Flags) mode(fs *pflag.FlagSet, s string, yolo bool) error {
	f.Moded = fs.Changed("permission-mode") || yolo
	m, err := permission.ParseMode(s)
	if err != nil {
		return shell.Misused("--permission-mode: %v", err)
	}
	if yolo && fs.Changed("permission-mode") && m != permission.Yolo {
		return shell.Misused("--yolo and --permission-mode %s contradict each other: give one", s)
	}
	if yolo {
		m = permission.Yolo
	}
	f.Mode = m
	return nil
}
