package skills

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"fantail/tools"
	"fantail/tools/files"
	"fantail/tools/permission"
)

// Limits of a text's insertions.
const (
	maxFileIn = 64 << 10  // bytes of a file that @file names
	maxText   = 256 << 10 // bytes of a text with all insertions
	maxRefs   = 20        // files, and command lines
)

// Skill returns what the tool skill gives a model: only skills that models may use.
func (s *Catalog) Skill(ctx context.Context, name, args string) (tools.Skill, error) {
	if s == nil {
		return tools.Skill{}, errors.New("there are no skills here")
	}
	l := s.Now()
	i := l.Find(Skill, name)
	if i == nil {
		return tools.Skill{}, s.none(Skill, name)
	}
	if i.Manual {
		return tools.Skill{}, fmt.Errorf("the skill %s is used only by people, who type /%s", i.Name, i.Name)
	}
	return (&expansion{s: s, i: i, args: args, ctx: ctx}).use("Skill " + i.Name + from(i))
}

// Type returns the meaning of /NAME with arguments for an agent.
func (s *Catalog) Type(ctx context.Context, name, args string, by Typist) (tools.Skill, error) {
	i := s.Now().Slash(name)
	if i == nil {
		return tools.Skill{}, fmt.Errorf("the command /%s is gone", name)
	}
	e := expansion{s: s, i: i, args: args, ctx: ctx, typed: by == Human}
	return e.use(strings.TrimSpace("/"+name+" "+args) + "\n\nWhat /" + name + " stands for" + from(i))
}

// from says where the files of an item are.
func from(i *Item) string {
	switch {
	case i.Path == "":
		return ""
	case i.Kind == Skill:
		return " (" + i.Source + "; the paths in it begin in " + filepath.Dir(i.Path) + ")"
	}
	return " (" + i.Source + ")"
}

// use returns the result of using an item.
func (e *expansion) use(head string) (tools.Skill, error) {
	s, i := e.s, e.i
	body, err := s.body(i)
	if err != nil {
		return tools.Skill{}, err
	}
	text, err := e.expand(body)
	if err != nil {
		return tools.Skill{}, fmt.Errorf("%s: %w", i.Source, err)
	}
	text = head + ":\n\n" + text
	if !i.Fork {
		return tools.Skill{Text: text}, nil
	}
	t := &tools.Task{Prompt: text, Model: i.Model}
	if i.Agent != "" && s.Now().Find(Agent, i.Agent) != nil { // else another tool's: one like the dispatcher
		t.Model = tools.VendorModel(i.Agent)
	}
	return tools.Skill{Task: t}, nil
}

// body reads the text of an item.
func (s *Catalog) body(i *Item) (string, error) {
	var text []byte
	var err error
	if i.Path == "" {
		text, err = ours.ReadFile("ours/" + i.Name + "/SKILL.md")
	} else {
		text, err = i.tree.Whole(i.rel, maxFile)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", i.Source, err)
	}
	m, err := tools.ReadFrontMatter(text)
	if err != nil {
		return "", fmt.Errorf("%s:%w", i.Source, err)
	}
	return s.o.text(m.Body), nil
}

// text returns the text of a file as it is used.
func (o *Options) text(body string) string { return strings.TrimSpace(o.Keys.Text(clean(body))) }

// clean returns text without control characters.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// expansion is a text in which arguments, files and the output of commands are inserted.
type expansion struct {
	s    *Catalog
	i    *Item
	args string

	ctx   context.Context // of the use
	typed bool            // a human typed it
	lines []string        // command lines in it
	took  bool            // the arguments were inserted
	refs  int
}

// refers matches references in a text besides command lines: @file after a blank, $ARGUMENTS, $ARGUMENTS[n], $n and
// the directory of its skill.
var refers = regexp.MustCompile("(?m:^|[ \t(])@[A-Za-z0-9_./-]+|\\$ARGUMENTS(?:\\[\\d+\\])?|\\$[0-9]\\b|\\$\\{CLAUDE_SKILL_DIR\\}")

// expand returns the text. It does not expand inserted text again.
func (e *expansion) expand(body string) (string, error) {
	var b strings.Builder
	all := pieces(body)
	e.lines = commandLines(all)
	for _, p := range all {
		if p.line != "" {
			b.WriteString(e.command(p))
		} else {
			e.words(&b, p)
		}
		if b.Len() > maxText {
			return "", fmt.Errorf("with all it brings along it has more than %d bytes", maxText)
		}
	}
	if e.args != "" && !e.took {
		b.WriteString("\n\nARGUMENTS: " + e.args)
	}
	return b.String(), nil
}

// words writes a piece that is no command line.
func (e *expansion) words(b *strings.Builder, p piece) {
	at := 0
	for _, m := range refers.FindAllStringIndex(p.text, -1) {
		b.WriteString(p.text[at:m[0]])
		ref := p.text[m[0]:m[1]]
		glued := ref[0] == '@' && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n")
		if !strings.Contains(ref, "@") || !p.code && !glued {
			ref = e.ref(ref)
		}
		b.WriteString(ref)
		at = m[1]
	}
	b.WriteString(p.text[at:])
}

// ref returns the replacement of a reference.
func (e *expansion) ref(ref string) string {
	if strings.HasPrefix(ref, "$") {
		return e.argument(ref)
	}
	lead, name, _ := strings.Cut(ref, "@")
	return lead + e.file(name)
}

// argument returns the text for the arguments, or one of them: $1 is the first, and so is $ARGUMENTS[0].
func (e *expansion) argument(ref string) string {
	if ref == "${CLAUDE_SKILL_DIR}" {
		if e.i.Path == "" {
			return ref
		}
		return filepath.Dir(e.i.Path)
	}
	e.took = true
	if ref == "$ARGUMENTS" {
		return e.args
	}
	all := split(e.args)
	n, err := strconv.Atoi(strings.Trim(ref, "$ARGUMENTS[]"))
	if !strings.HasPrefix(ref, "$A") {
		n--
	}
	if err != nil || n < 0 || n >= len(all) {
		return ""
	}
	return all[n]
}

// file returns the content of a file of the workspace. It does not read a file that an agent would have to ask for.
func (e *expansion) file(name string) string {
	text, err := e.read(strings.TrimRight(name, "."))
	switch {
	case errors.Is(err, fs.ErrNotExist): // it may be a user's name
		return "@" + name
	case err != nil:
		return "@" + name + " (not read: " + tools.Line(err.Error()) + ")"
	}
	return "\n\n<file path=\"" + strings.TrimRight(name, ".") + "\">\n" + strings.TrimRight(text, "\n") + "\n</file>\n"
}

func (e *expansion) read(name string) (string, error) {
	o := &e.s.o
	if e.refs++; e.refs > maxRefs {
		return "", fmt.Errorf("more than %d files and commands are named", maxRefs)
	}
	tr := files.Tree{Root: o.Root, Private: o.Private, Home: o.Home}
	t, err := tr.Target(name, permission.Read)
	switch a := t.Touch(permission.Action{}); {
	case err != nil:
		return "", err
	case !t.Inside:
		return "", errors.New("it is outside of the workspace")
	case a.Forbidden != "" || a.Sensitive != "":
		return "", errors.New(cmp.Or(a.Forbidden, "it may hold secrets"))
	}
	h := files.Root{Dir: o.Root, Bound: true}.Open()
	defer h.Close()
	text, size, err := h.Head(t.Rel, maxFileIn, maxFile)
	if err != nil {
		return "", err
	}
	if strings.ContainsRune(string(text), 0) {
		return "", errors.New("it is no text")
	}
	said := o.Keys.Text(clean(string(text)))
	if size > maxFileIn {
		said += fmt.Sprintf("\n… it has %d bytes, the first %d stand here", size, maxFileIn)
	}
	return said, nil
}

// split cuts arguments into words; quotes group words.
func split(s string) (words []string) {
	var b strings.Builder
	var quote rune
	open := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if open {
				words, open = append(words, b.String()), false
				b.Reset()
			}
		default:
			open = true
			b.WriteRune(r)
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words
}
