package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// workspace is a directory with those files, and a book of what is trusted there.
func workspace(t *testing.T, files map[string]string) (root string, b *Book) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	b, err := Open(root, filepath.Join(t.TempDir(), "trust.json"))
	check(t, err)
	return root, b
}

func write(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(text), 0o755))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func part(commands ...string) Part {
	return Part{Kind: "hooks", Name: "a.json Stop", Text: strings.Join(commands, "\n"), Commands: commands}
}

func paths(s Snapshot) (all []string) {
	for _, f := range s.Files {
		all = append(all, f.Path)
	}
	return all
}

// Every file that a command line names counts, however it does.
func TestLook_findsWhatIsNamed(t *testing.T) {
	root, b := workspace(t, map[string]string{
		"x.sh": "x", "sub/y.py": "y", "sub/z.sh": "z", ".claude/hooks/a.sh": "a", ".claude/hooks/b.sh": "b", "with space.sh": "s", "README.md": "r",
	})
	check(t, os.Symlink("/etc/hostname", filepath.Join(root, "out.sh")))
	check(t, os.Symlink("x.sh", filepath.Join(root, "in.sh")))
	for command, want := range map[string]string{
		"./x.sh":                                     "x.sh",
		"sh x.sh --flag=README.md":                   "README.md x.sh",
		`"$CLAUDE_PROJECT_DIR"/sub/y.py`:             "sub/y.py",
		"${FANTAIL_PROJECT_DIR}/sub/y.py":            "sub/y.py",
		root + "/sub/y.py":                           "sub/y.py",
		"$(git rev-parse --show-toplevel)/sub/y.py":  "sub/y.py",
		"cd sub && ./z.sh":                           "sub/z.sh",
		`bash -c "python3 sub/y.py; true"`:           "sub/y.py",
		"for f in .claude/hooks/*.sh; do . $f; done": ".claude/hooks/a.sh .claude/hooks/b.sh",
		"run-parts .claude/hooks":                    ".claude/hooks/a.sh .claude/hooks/b.sh",
		"CONFIG=x.sh make":                           "x.sh",
		"cat < x.sh | sh":                            "x.sh",
		"./x.sh > README.md 2>> sub/y.py":            "x.sh",
		"echo evil > x.sh; sh x.sh":                  "x.sh",
		"'with space.sh'":                            "with space.sh",
		"./in.sh":                                    "in.sh",
		"./out.sh":                                   "out.sh",
		"../outside.sh; /usr/bin/true; curl http://x.example/x": "",
	} {
		s := b.Look(part(command))
		if got := strings.Join(paths(s), " "); got != want || s.Fault != nil {
			t.Errorf("%s names %q, want %q (%v)", command, got, want, s.Fault)
		}
	}
	if s := b.Look(part("./out.sh")); !s.Files[0].Out || s.Files[0].Text != "" {
		t.Errorf("a link out of the workspace was read: %+v", s.Files[0])
	}
}

// What was agreed to holds for exactly that: a changed script, a file that is there now, a link that leads elsewhere and a
// changed configuration ask again, and what comes back as it was is trusted again. It outlives the program.
func TestStanding(t *testing.T) {
	root, b := workspace(t, map[string]string{"x.sh": "echo one\n"})
	p := part("./x.sh", "./later.sh")
	is := func(when string, want Standing) {
		t.Helper()
		if got := b.Standing(b.Look(p)); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	is("at first", New)
	check(t, b.Agree(b.Look(p)))
	is("agreed", Agreed)
	again, err := Open(root, b.path)
	check(t, err)
	if got := again.Standing(again.Look(p)); got != Agreed {
		t.Errorf("after a restart: %v", got)
	}
	write(t, filepath.Join(root, "x.sh"), "echo two\n")
	is("the script changed", Changed)
	if d := b.Diff(b.Look(p)); !strings.Contains(d, "-echo one") || !strings.Contains(d, "+echo two") || !strings.Contains(d, "x.sh") {
		t.Errorf("the diff is %q", d)
	}
	check(t, b.Decline(b.Look(p)))
	is("declined", Declined)
	write(t, filepath.Join(root, "x.sh"), "echo one\n")
	is("as it was", Agreed)
	write(t, filepath.Join(root, "later.sh"), "evil")
	is("a file came", Changed)
	check(t, os.Remove(filepath.Join(root, "later.sh")))
	check(t, os.Remove(filepath.Join(root, "x.sh")))
	check(t, os.Symlink("/bin/true", filepath.Join(root, "x.sh")))
	is("a link out of the workspace", Changed)
	check(t, os.Remove(filepath.Join(root, "x.sh")))
	write(t, filepath.Join(root, "x.sh"), "echo one\n")
	is("as it was again", Agreed)
	p.Text += " and more"
	is("the configuration changed", Changed)
}

// Of answers that are given at once each is kept, here and on disk.
func TestAgree_together(t *testing.T) {
	root, b := workspace(t, nil)
	all := make([]Snapshot, 20)
	var g sync.WaitGroup
	for i := range all {
		all[i] = b.Look(Part{Kind: "hooks", Name: strconv.Itoa(i), Text: "x"})
		g.Go(func() {
			if err := b.Agree(all[i]); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	again, err := Open(root, b.path)
	check(t, err)
	for _, s := range all {
		if here, there := b.Standing(s), again.Standing(s); here != Agreed || there != Agreed {
			t.Errorf("%s: %v, and after a restart %v", s.Name, here, there)
		}
	}
}

// Whether a file is guarded is known without going through what is trusted: it is asked for each word of each command.
func TestGuards_cheap(t *testing.T) {
	root, b := workspace(t, map[string]string{"x.sh": "x"})
	for i := range 100 {
		check(t, b.Agree(b.Look(Part{Kind: "hooks", Name: strconv.Itoa(i), Path: "hooks.json", Commands: []string{"./x.sh"}})))
	}
	again, err := Open(root, b.path)
	check(t, err)
	for _, b := range []*Book{b, again} {
		for path, guarded := range map[string]bool{"x.sh": true, "hooks.json": true, "y.sh": false} {
			if got := b.Guards(filepath.Join(root, path)); (got != "") != guarded {
				t.Errorf("%s: %q", path, got)
			}
		}
		other := filepath.Join(root, "y.sh")
		if n := testing.AllocsPerRun(10, func() { b.Guards(other) }); n != 0 {
			t.Errorf("it costs %v allocations", n)
		}
	}
}

// Nobody can agree to what can't be vouched for.
func TestLook_bounds(t *testing.T) {
	root, b := workspace(t, nil)
	f, err := os.Create(filepath.Join(root, "big.sh"))
	check(t, err)
	check(t, f.Truncate(mostFile+1))
	check(t, f.Close())
	many := ""
	for n := range mostFiles + 1 {
		name := "f" + strings.Repeat("x", n)
		write(t, filepath.Join(root, name), "")
		many += " " + name
	}
	for command, want := range map[string]string{"./big.sh": "bytes", "cat" + many: "more than", "if": "parsed", strings.Repeat("x", 40<<10): "bytes"} {
		s := b.Look(part(command))
		if s.Fault == nil || !strings.Contains(s.Fault.Error(), want) {
			t.Errorf("%.20s: %v, want %q", command, s.Fault, want)
		}
		if err := b.Agree(s); err == nil {
			t.Errorf("%.20s is agreed to", command)
		}
		if got := b.Standing(s); got != New {
			t.Errorf("%.20s: %v", command, got)
		}
	}
}

// Who changes what is trusted is asked, until the trust is taken back.
func TestGuards(t *testing.T) {
	root, b := workspace(t, map[string]string{"x.sh": "x"})
	x := filepath.Join(root, "x.sh")
	s := b.Look(part("./x.sh"))
	if b.Guards(x) != "" {
		t.Error("guarded before anybody agreed")
	}
	check(t, b.Agree(s))
	if b.Guards(x) == "" || b.Guards(x+"x") != "" || !slices.Equal(b.Guarded(), []string{x}) {
		t.Errorf("%q, guarded %v", b.Guards(x), b.Guarded())
	}
	check(t, b.Decline(s))
	if b.Guards(x) != "" || b.Standing(s) != Declined {
		t.Error("guarded though it was taken back")
	}
}

// A book that is broken, or no file, trusts nothing.
func TestOpen_broken(t *testing.T) {
	root, b := workspace(t, nil)
	p := part("true")
	check(t, b.Agree(b.Look(p)))
	write(t, b.path, "{")
	broken, err := Open(root, b.path)
	if err == nil || broken.Standing(broken.Look(p)) != New {
		t.Errorf("%v, %v", err, broken.Standing(broken.Look(p)))
	}
	check(t, os.Remove(b.path))
	check(t, os.Symlink("/dev/zero", b.path))
	if _, err := Open(root, b.path); err == nil {
		t.Error("a device is read")
	}
}

func TestBrief(t *testing.T) {
	_, b := workspace(t, nil)
	p := part("true", "false")
	all := []Part{p}
	if got := Brief(b.Review(all)); !strings.Contains(got, "hooks: 2") || !strings.Contains(got, "/trust") {
		t.Errorf("%q", got)
	}
	check(t, b.Agree(b.Look(p)))
	if got := Brief(b.Review(all)); got != "" {
		t.Errorf("%q", got)
	}
	all[0].Text = "else"
	if got := Brief(b.Review(all)); !strings.Contains(got, "changed") {
		t.Errorf("%q", got)
	}
	if r := b.Review(all); r[0].Diff == "" {
		t.Error("no diff")
	}
}

// A room joins what its sources bring, each part with what its kind is; what one agrees to holds for that kind only.
func TestRoom(t *testing.T) {
	root := t.TempDir()
	r, err := In(root, t.TempDir())
	check(t, err)
	one, two := part("true"), part("true")
	two.Kind = "command"
	r.Add(Source{Kind: one.Kind, About: "Hooks run.", Parts: func() []Part { return []Part{one} }})
	r.Add(Source{Kind: two.Kind, About: "Commands run.", Parts: func() []Part { return []Part{two} }})
	all := r.Review()
	if len(all) != 2 || all[0].About != "Hooks run." || all[1].About != "Commands run." || all[1].Kind != "command" {
		t.Fatalf("%+v", all)
	}
	var heard []Standing
	r.Hear(func() {
		_, is := r.Look(two)
		heard = append(heard, is)
	})
	check(t, r.Decline(all[1].Snapshot))
	check(t, r.Agree(all[1].Snapshot))
	if len(heard) != 2 || heard[0] != Declined || heard[1] != Agreed {
		t.Errorf("answers were heard of as %v", heard)
	}
	if _, is := r.Look(one); is != New {
		t.Errorf("hooks: %v", is)
	}
	if _, is := r.Look(two); is != Agreed {
		t.Errorf("commands: %v", is)
	}
	if got := Brief(r.Review()); !strings.Contains(got, "(hooks: 1)") {
		t.Error(got)
	}
	var none *Room
	none.Add(Source{})
	none.Hear(nil)
	if _, is := none.Look(one); is != New || none.Review() != nil || none.Guarded() != nil || none.Guards("/x") != "" || none.Agree() == nil || none.Decline() == nil {
		t.Error("where there is no room something is trusted")
	}
}
