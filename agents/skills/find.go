package skills

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fantail/agents/instructions"
	"fantail/tools"
	"fantail/tools/files"
)

//go:embed ours
var ours embed.FS

// nameForm matches names. They are ASCII, so that no two look alike, and none is a path.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// maxAbout is how many bytes of a description are stored.
const maxAbout = 1024

// finder fills a list.
type finder struct {
	o     *Options
	l     *List
	below []string // directories that tools touched
	left  int      // files that are still read of a place

	own *files.RootHold // the workspace
	in  *files.RootHold // that of the present place
}

// look finds everything.
func (f *finder) look() {
	f.own = files.Root{Dir: f.o.Root, Bound: true}.Open()
	defer f.own.Close()
	for _, p := range f.o.places() {
		f.place(p)
	}
	f.ours()
	for _, at := range f.below {
		for _, l := range lower {
			p := f.o.place(at, l)
			p.below = at
			f.place(p)
		}
	}
	f.rank()
	f.roles()
	f.slashes()
}

// place finds the files of a place.
func (f *finder) place(p place) {
	f.left, f.in = maxFiles, f.own
	if !p.tree.Bound {
		f.in = p.tree.Open()
		defer f.in.Close()
	}
	f.in.Near(p.rel)
	switch p.kind {
	case Skill:
		f.skills(p)
	default:
		f.files(p, "", 0)
	}
}

// broken notes a file that can't be used.
func (f *finder) broken(source string, err error) {
	sep := ": "
	if at := (*tools.FrontFault)(nil); errors.As(err, &at) {
		sep = ":"
	}
	f.l.Broken = append(f.l.Broken, flat(source, 300)+sep+tools.Line(err.Error()))
}

// entries returns the names in a directory of a place.
func (f *finder) entries(p place, rel string) []fs.DirEntry {
	es, err := f.in.List(filepath.Join(p.rel, rel), maxFiles)
	if err != nil {
		f.broken(path.Join(p.show, rel), err)
	}
	if len(es) >= maxFiles {
		f.broken(path.Join(p.show, rel), fmt.Errorf("more than %d files stand there, the rest is not read", maxFiles))
	}
	return es
}

// skills finds the directories with a SKILL.md.
func (f *finder) skills(p place) {
	for _, e := range f.entries(p, "") {
		if e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		rel := filepath.Join(e.Name(), "SKILL.md")
		text, size, err := f.in.Head(filepath.Join(p.rel, rel), maxHead, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f.add(p, rel, e.Name(), text, size, err)
	}
}

// one reports whether one more file or directory of a place may be read. It reports the first refusal as broken.
func (f *finder) one(p place) bool {
	if f.left--; f.left == -1 {
		f.broken(p.show, fmt.Errorf("more than %d files and directories lie below it, the rest is not read", maxFiles))
	}
	return f.left >= 0
}

// files finds Markdown files, also in subdirectories. A subdirectory of commands becomes a part of their names.
func (f *finder) files(p place, rel string, depth int) {
	for _, e := range f.entries(p, rel) {
		name := e.Name()
		at := filepath.Join(rel, name)
		base, md := strings.CutSuffix(name, ".md")
		switch {
		case strings.HasPrefix(name, "."):
		case md && (e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0):
			if !f.one(p) {
				return
			}
			text, size, err := f.in.Head(filepath.Join(p.rel, at), maxHead, maxFile)
			if errors.Is(err, fs.ErrNotExist) { // a link to nothing
				continue
			}
			if p.kind == Command && rel != "" {
				base = strings.ReplaceAll(filepath.ToSlash(rel), "/", ":") + ":" + base
			}
			f.add(p, at, base, text, size, err)
		case e.IsDir() && depth < maxDepth:
			if !f.one(p) {
				return
			}
			f.files(p, at, depth+1)
		}
	}
}

// ours adds the program's own skills.
func (f *finder) ours() {
	es, _ := ours.ReadDir("ours") // it is embedded
	for _, e := range es {
		text, err := ours.ReadFile(path.Join("ours", e.Name(), "SKILL.md"))
		f.add(place{show: "Fantail", kind: Skill}, e.Name(), e.Name(), text, int64(len(text)), err)
	}
}

// add adds the file of a place that begins with that text.
func (f *finder) add(p place, rel, base string, text []byte, size int64, err error) {
	i := &Item{Kind: p.kind, Name: base, Source: flat(path.Join(p.show, filepath.ToSlash(rel)), 300), Bytes: size, Of: p.of, Below: p.below, tree: p.tree, rel: filepath.Join(p.rel, rel)}
	if p.tree.Dir != "" {
		i.Path = filepath.Join(p.tree.Dir, i.rel)
	} else {
		i.Source = "Fantail's own"
	}
	var m tools.FrontMatter
	if err == nil {
		m, err = tools.ReadFrontMatter(text)
	}
	if err == nil {
		if m.Left != nil {
			i.Notes = append(i.Notes, i.Source+":"+m.Left.Error())
		}
		err = i.describe(&m, f.o)
	}
	if err != nil {
		f.broken(i.Source, err)
		return
	}
	f.l.Items = append(f.l.Items, i)
}

// describe reads a file's front matter.
func (i *Item) describe(m *tools.FrontMatter, o *Options) error {
	if n := m.Get("name"); n != nil && n.Text != "" && i.Kind != Command {
		if nameForm.MatchString(n.Text) {
			i.Name = n.Text
		} else {
			i.note(n, fmt.Sprintf("the name %q does not do, %s is used: it takes letters A to Z, digits, dot, dash and underscore, at most 64 of them", flat(n.Text, 80), flat(i.Name, 80)))
		}
	}
	for part := range strings.SplitSeq(i.Name, ":") {
		if !nameForm.MatchString(part) || part == ".." {
			return fmt.Errorf("the name %q does not do: it takes letters A to Z, digits, dot, dash and underscore", flat(i.Name, 80))
		}
	}
	about := m.Body
	if d := m.Get("description"); d != nil && d.Text != "" {
		about = d.Text
	} else if begin, _, cut := strings.Cut(strings.TrimLeft(strings.TrimSpace(about), "# "), "\n\n"); cut || begin != "" {
		about = flat(begin, 200)
	}
	if w := m.Get("when_to_use"); w != nil {
		about += " " + w.Text
	}
	i.About = flat(about, maxAbout)
	if h := m.Get("argument-hint"); h != nil {
		i.Hint = flat(cmp.Or(strings.Join(h.List, " "), h.Text), 60)
	}
	if i.Kind == Agent {
		return i.readRole(m, o)
	}
	i.wants(m.Body, o)
	// Both only restrict the use: an unclear value restricts it.
	i.Manual = i.Kind == Command || i.says(m.Get("disable-model-invocation")) != no
	if u := m.Get("user-invocable"); u == nil || u.Text == "" || i.says(u) == yes {
		i.Slash = i.Name
	}
	for _, w := range m.Get("paths").Words() {
		if glob, ok := instructions.Pattern(w); ok && flat(glob, 500) == glob {
			i.Paths = append(i.Paths, glob)
		} else {
			i.note(m.Get("paths"), fmt.Sprintf("%q is no pattern of paths", flat(w, 80)))
		}
	}
	i.forks(m, o)
	if a := m.Get("allowed-tools"); a != nil {
		i.note(a, "allowed-tools is not used: a file allows nothing")
	}
	if h := m.Get("hooks"); h != nil {
		i.note(h, "hooks: not used here")
	}
	return nil
}

// wants finds the command lines of a text, of which only the beginning may have been read.
func (i *Item) wants(body string, o *Options) {
	if i.Bytes > maxHead {
		text, err := i.tree.Whole(i.rel, maxFile)
		m, wrong := tools.ReadFrontMatter(text)
		if body = m.Body; err != nil || wrong != nil {
			return // using it reports the error
		}
	}
	if strings.Contains(body, "!`") || strings.Contains(body, "`!") || strings.Contains(body, "~!") {
		i.lines = commandLines(pieces(o.text(body)))
	}
}

// forks reads the settings of the agent that carries the file out, if one does.
func (i *Item) forks(m *tools.FrontMatter, o *Options) {
	if c := m.Get("context"); c != nil {
		if i.Fork = c.Text == "fork"; !i.Fork {
			i.note(c, fmt.Sprintf("context %s is not known: it is fork, or not said", flat(c.Text, 40)))
		}
	}
	a, model := m.Get("agent"), m.Get("model")
	if a != nil && a.Text != "" {
		if i.Agent = flat(a.Text, 64); !i.Fork {
			i.Agent = ""
			i.note(a, "agent is used only with context: fork")
		}
	}
	if model == nil || model.Text == "" || model.Text == "inherit" {
		return
	}
	switch name, err := o.model(model.Text); {
	case err != nil:
		i.note(model, fmt.Sprintf("there is no model %s here: that of the agent that uses it stays", flat(model.Text, 60)))
	case !i.Fork:
		i.note(model, "model is used only with context: fork: a conversation keeps its own")
	case i.Agent != "":
		i.note(model, "model is not used: agent says which one it is")
	default:
		i.Model = name
	}
}

// model returns the full name of a model.
func (o *Options) model(name string) (string, error) {
	if _, vendor := tools.VendorOf(name); vendor {
		return "", errors.New("a file sends nothing to another vendor's agent")
	}
	if o.Model == nil {
		return name, nil
	}
	return o.Model(name)
}

// note notes which part of a field is not used.
func (i *Item) note(f *tools.FrontField, text string) {
	i.Notes = append(i.Notes, fmt.Sprintf("%s:%d:1: %s", i.Source, f.Line, text))
}

// answer is the value of a yes or no field.
type answer int

const (
	no answer = iota // or nothing
	yes
	unclear
)

// says reads a yes or no field, and notes any other value.
func (i *Item) says(f *tools.FrontField) answer {
	if f == nil {
		return no
	}
	switch strings.ToLower(f.Text) {
	case "", "false", "no", "off", "0":
		return no
	case "true", "yes", "on", "1":
		return yes
	}
	i.note(f, fmt.Sprintf("%s %s is neither true nor false", f.Key, flat(f.Text, 40)))
	return unclear
}

// rank picks the item in use among those with the same name: the first that was found, and a skill before a command.
func (f *finder) rank() {
	for _, i := range f.l.Items {
		by := f.l.by[i.Kind]
		switch first := by[i.Name]; {
		case i.Below != "":
			if i.Out = f.apart(i); i.Out == "" {
				by[i.Name] = i
			}
		case i.Kind == Agent && slices.Contains(f.o.Vendors, i.Name):
			i.Out = "shadowed by " + i.Name + ", another vendor's agent"
		case first != nil:
			i.Out = "shadowed by " + first.Source
		default:
			by[i.Name] = i
		}
	}
	for _, i := range f.l.Items {
		if s := f.l.by[Skill][i.Name]; i.Kind == Command && i.Out == "" && s != nil {
			i.Out = "shadowed by " + s.Source
			delete(f.l.by[Command], i.Name)
		}
	}
}

// slashes sets the names that people can type. A command in a directory also has its last name, if nothing else has
// it.
func (f *finder) slashes() {
	short := map[string][]*Item{}
	for _, i := range f.l.Items {
		switch {
		case i.Out != "":
			i.Slash = ""
		case i.Slash != "" && slices.Contains(f.o.Words, i.Slash):
			i.Typed, i.Slash = "/"+i.Slash+" is a command of the program", ""
		case i.Slash != "":
			f.l.slash[i.Slash] = i
		}
		if n := strings.LastIndexByte(i.Slash, ':'); n > 0 {
			short[i.Slash[n+1:]] = append(short[i.Slash[n+1:]], i)
		}
	}
	for name, is := range short {
		if len(is) == 1 && f.l.slash[name] == nil && !slices.Contains(f.o.Words, name) {
			f.l.slash[name] = is[0]
		}
	}
}
