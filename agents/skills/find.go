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
	"fantail/tools/front"
	"fantail/tools/tree"
)

//go:embed ours
var ours embed.FS

// nameForm is the form of names. They are ASCII, so that no two look alike, and none is a path.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// mostAbout is how many bytes of a description are kept.
const mostAbout = 1024

// finder fills a list.
type finder struct {
	o     *Options
	l     *List
	below []string // directories that tools touched
	left  int      // files that are still read of a place

	own *tree.Hold // the workspace
	in  *tree.Hold // that of the present place
}

// look finds everything.
func (f *finder) look() {
	f.own = tree.Tree{Dir: f.o.Root, Bound: true}.Open()
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

// place finds what is in a place.
func (f *finder) place(p place) {
	f.left, f.in = mostFiles, f.own
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
	if at := (*front.Fault)(nil); errors.As(err, &at) {
		sep = ":"
	}
	f.l.Broken = append(f.l.Broken, flat(source, 300)+sep+tools.Line(err.Error()))
}

// entries are the names in a directory of a place.
func (f *finder) entries(p place, rel string) []fs.DirEntry {
	es, err := f.in.List(filepath.Join(p.rel, rel), mostFiles)
	if err != nil {
		f.broken(path.Join(p.show, rel), err)
	}
	if len(es) >= mostFiles {
		f.broken(path.Join(p.show, rel), fmt.Errorf("more than %d files stand there, the rest is not read", mostFiles))
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
		text, size, err := f.in.Head(filepath.Join(p.rel, rel), mostHead, mostFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f.add(p, rel, e.Name(), text, size, err)
	}
}

// one reports whether one more file or directory of a place is looked at. That it is not is told once.
func (f *finder) one(p place) bool {
	if f.left--; f.left == -1 {
		f.broken(p.show, fmt.Errorf("more than %d files and directories lie below it, the rest is not read", mostFiles))
	}
	return f.left >= 0
}

// files finds Markdown files, also below. Names below a directory of commands are told apart by its name.
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
			text, size, err := f.in.Head(filepath.Join(p.rel, at), mostHead, mostFile)
			if errors.Is(err, fs.ErrNotExist) { // a link to nothing
				continue
			}
			if p.kind == Command && rel != "" {
				base = strings.ReplaceAll(filepath.ToSlash(rel), "/", ":") + ":" + base
			}
			f.add(p, at, base, text, size, err)
		case e.IsDir() && depth < mostDepth:
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
	var m front.Matter
	if err == nil {
		m, err = front.Read(text)
	}
	if err == nil {
		err = i.describe(&m, f.o)
	}
	if err != nil {
		f.broken(i.Source, err)
		return
	}
	f.l.Items = append(f.l.Items, i)
}

// describe reads what a file says about itself.
func (i *Item) describe(m *front.Matter, o *Options) error {
	if n := m.Get("name"); n != nil && i.Kind != Command {
		if i.Kind == Agent && !nameForm.MatchString(n.Text) {
			return &front.Fault{Line: n.Line, Column: 1, Text: fmt.Sprintf("the name %q does not do: it takes letters A to Z, digits, dot, dash and underscore, at most 64 of them", flat(n.Text, 80))}
		}
		if nameForm.MatchString(n.Text) {
			i.Name = n.Text
		} else {
			i.note(n, fmt.Sprintf("the name %q does not do, %s is used", flat(n.Text, 80), flat(i.Name, 80)))
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
	i.About = flat(about, mostAbout)
	if h := m.Get("argument-hint"); h != nil {
		i.Hint = flat(cmp.Or(h.Text, strings.Join(h.List, " ")), 60)
	}
	if i.Kind == Agent {
		return i.readRole(m, o)
	}
	i.wants(m.Body, o)
	i.Manual = i.Kind == Command || truth(m.Get("disable-model-invocation"))
	if u := m.Get("user-invocable"); u == nil || !strings.EqualFold(u.Text, "false") {
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
	if i.Bytes > mostHead {
		text, err := i.tree.Whole(i.rel, mostFile)
		m, wrong := front.Read(text)
		if body = m.Body; err != nil || wrong != nil {
			return // who uses it is told
		}
	}
	if strings.Contains(body, "!`") || strings.Contains(body, "`!") || strings.Contains(body, "~!") {
		i.lines = commandLines(pieces(o.text(body)))
	}
}

// forks reads what an agent of its own is to be like, if one carries it out.
func (i *Item) forks(m *front.Matter, o *Options) {
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

// model is the full name of a model.
func (o *Options) model(name string) (string, error) {
	if _, vendor := tools.VendorOf(name); vendor {
		return "", errors.New("a file sends nothing to another vendor's agent")
	}
	if o.Model == nil {
		return name, nil
	}
	return o.Model(name)
}

// note notes what of a field is not used.
func (i *Item) note(f *front.Field, text string) {
	i.Notes = append(i.Notes, fmt.Sprintf("%s:%d:1: %s", i.Source, f.Line, text))
}

func truth(f *front.Field) bool { return f != nil && strings.EqualFold(f.Text, "true") }

// rank finds which of those with the same name is in use: the first that was found, and a skill before a command.
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

// slashes finds what people can type. A command in a directory is also called by its last name, if nothing else is.
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
