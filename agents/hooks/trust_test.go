package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// workspace returns a directory with those files, and its empty trust file.
func workspace(t *testing.T, files map[string]string) (root string, b *TrustFile) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	b, err := OpenTrustFile(root, filepath.Join(t.TempDir(), "trust.json"))
	checkTrust(t, err)
	return root, b
}

func write(t *testing.T, path, text string) {
	t.Helper()
	checkTrust(t, os.MkdirAll(filepath.Dir(path), 0o755))
	checkTrust(t, os.WriteFile(path, []byte(text), 0o755))
}

func checkTrust(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func part(commands ...string) TrustPart {
	return TrustPart{Kind: "hooks", Name: "a.json Stop", Text: strings.Join(commands, "\n"), Commands: commands}
}

func paths(s TrustSnapshot) (all []string) {
	for _, f := range s.Files {
		all = append(all, f.Path)
	}
	return all
}

// Every file that a command line names in any way counts.
func TestLook_findsWhatIsNamed(t *testing.T) {
	root, b := workspace(t, map[string]string{
		"x.sh": "x", "sub/y.py": "y", "sub/z.sh": "z", ".claude/hooks/a.sh": "a", ".claude/hooks/b.sh": "b", "with space.sh": "s", "README.md": "r",
	})
	checkTrust(t, os.Symlink("/etc/hostname", filepath.Join(root, "out.sh")))
	checkTrust(t, os.Symlink("x.sh", filepath.Join(root, "in.sh")))
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

// TestStanding: an agreement holds for one exact version: a changed script, a new file, a link that leads elsewhere
// and a changed configuration ask again, and a version that comes back is trusted again. It outlives the program.
func TestStanding(t *testing.T) {
	root, b := workspace(t, map[string]string{"x.sh": "echo one\n"})
	p := part("./x.sh", "./later.sh")
	is := func(when string, want TrustState) {
		t.Helper()
		if got := b.Standing(b.Look(p)); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	is("at first", NewTrust)
	checkTrust(t, b.Agree(b.Look(p)))
	is("agreed", Agreed)
	again, err := OpenTrustFile(root, b.path)
	checkTrust(t, err)
	if got := again.Standing(again.Look(p)); got != Agreed {
		t.Errorf("after a restart: %v", got)
	}
	write(t, filepath.Join(root, "x.sh"), "echo two\n")
	is("the script changed", Changed)
	if d := b.Diff(b.Look(p)); !strings.Contains(d, "-echo one") || !strings.Contains(d, "+echo two") || !strings.Contains(d, "x.sh") {
		t.Errorf("the diff is %q", d)
	}
	checkTrust(t, b.Decline(b.Look(p)))
	is("declined", Declined)
	write(t, filepath.Join(root, "x.sh"), "echo one\n")
	is("as it was", Agreed)
	write(t, filepath.Join(root, "later.sh"), "evil")
	is("a file came", Changed)
	checkTrust(t, os.Remove(filepath.Join(root, "later.sh")))
	checkTrust(t, os.Remove(filepath.Join(root, "x.sh")))
	checkTrust(t, os.Symlink("/bin/true", filepath.Join(root, "x.sh")))
	is("a link out of the workspace", Changed)
	checkTrust(t, os.Remove(filepath.Join(root, "x.sh")))
	write(t, filepath.Join(root, "x.sh"), "echo one\n")
	is("as it was again", Agreed)
	p.Text += " and more"
	is("the configuration changed", Changed)
}

// Of concurrent answers each is recorded, here and on disk.
func TestAgree_together(t *testing.T) {
	root, b := workspace(t, nil)
	all := make([]TrustSnapshot, 20)
	var g sync.WaitGroup
	for i := range all {
		all[i] = b.Look(TrustPart{Kind: "hooks", Name: strconv.Itoa(i), Text: "x"})
		g.Go(func() {
			if err := b.Agree(all[i]); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	again, err := OpenTrustFile(root, b.path)
	checkTrust(t, err)
	for _, s := range all {
		if here, there := b.Standing(s), again.Standing(s); here != Agreed || there != Agreed {
			t.Errorf("%s: %v, and after a restart %v", s.Name, here, there)
		}
	}
}

// TestGuards_cheap: Guards does not go through all trusted parts: it is called for each word of each command.
func TestGuards_cheap(t *testing.T) {
	root, b := workspace(t, map[string]string{"x.sh": "x"})
	for i := range 100 {
		checkTrust(t, b.Agree(b.Look(TrustPart{Kind: "hooks", Name: strconv.Itoa(i), Path: "hooks.json", Commands: []string{"./x.sh"}})))
	}
	again, err := OpenTrustFile(root, b.path)
	checkTrust(t, err)
	for _, b := range []*TrustFile{b, again} {
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

// TestLook_bounds: the user can't agree to what can't be vouched for.
func TestLook_bounds(t *testing.T) {
	root, b := workspace(t, nil)
	f, err := os.Create(filepath.Join(root, "big.sh"))
	checkTrust(t, err)
	checkTrust(t, f.Truncate(maxFile+1))
	checkTrust(t, f.Close())
	many := ""
	for n := range maxFiles + 1 {
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
		if got := b.Standing(s); got != NewTrust {
			t.Errorf("%.20s: %v", command, got)
		}
	}
}

// TestGuards: a change of a trusted file asks, until the trust is withdrawn.
func TestGuards(t *testing.T) {
	root, b := workspace(t, map[string]string{"x.sh": "x"})
	x := filepath.Join(root, "x.sh")
	s := b.Look(part("./x.sh"))
	if b.Guards(x) != "" {
		t.Error("guarded before anybody agreed")
	}
	checkTrust(t, b.Agree(s))
	if b.Guards(x) == "" || b.Guards(x+"x") != "" || !slices.Equal(b.Guarded(), []string{x}) {
		t.Errorf("%q, guarded %v", b.Guards(x), b.Guarded())
	}
	checkTrust(t, b.Decline(s))
	if b.Guards(x) != "" || b.Standing(s) != Declined {
		t.Error("guarded though it was taken back")
	}
}

// TestOpen_broken: a trust file that is broken, or no file, trusts nothing.
func TestOpen_broken(t *testing.T) {
	root, b := workspace(t, nil)
	p := part("true")
	checkTrust(t, b.Agree(b.Look(p)))
	write(t, b.path, "{")
	broken, err := OpenTrustFile(root, b.path)
	if err == nil || broken.Standing(broken.Look(p)) != NewTrust {
		t.Errorf("%v, %v", err, broken.Standing(broken.Look(p)))
	}
	checkTrust(t, os.Remove(b.path))
	checkTrust(t, os.Symlink("/dev/zero", b.path))
	if _, err := OpenTrustFile(root, b.path); err == nil {
		t.Error("a device is read")
	}
}

func TestBrief(t *testing.T) {
	_, b := workspace(t, nil)
	p := part("true", "false")
	all := []TrustPart{p}
	if got := BriefReviews(b.Review(all)); !strings.Contains(got, "hooks: 2") || !strings.Contains(got, "/trust") {
		t.Errorf("%q", got)
	}
	checkTrust(t, b.Agree(b.Look(p)))
	if got := BriefReviews(b.Review(all)); got != "" {
		t.Errorf("%q", got)
	}
	all[0].Text = "else"
	if got := BriefReviews(b.Review(all)); !strings.Contains(got, "changed") {
		t.Errorf("%q", got)
	}
	if r := b.Review(all); r[0].Diff == "" {
		t.Error("no diff")
	}
}

// A TrustStore joins the parts of its sources, each with its kind's description; an agreement counts for that kind
// only.
func TestRoom(t *testing.T) {
	root := t.TempDir()
	r, err := OpenTrust(root, t.TempDir())
	checkTrust(t, err)
	one, two := part("true"), part("true")
	two.Kind = "command"
	r.Add(TrustSource{Kind: one.Kind, About: "Hooks run.", Parts: func() []TrustPart { return []TrustPart{one} }})
	r.Add(TrustSource{Kind: two.Kind, About: "Commands run.", Parts: func() []TrustPart { return []TrustPart{two} }})
	all := r.Review()
	if len(all) != 2 || all[0].About != "Hooks run." || all[1].About != "Commands run." || all[1].Kind != "command" {
		t.Fatalf("%+v", all)
	}
	var heard []TrustState
	r.Hear(func() {
		_, is := r.Look(two)
		heard = append(heard, is)
	})
	checkTrust(t, r.Decline(all[1].TrustSnapshot))
	checkTrust(t, r.Agree(all[1].TrustSnapshot))
	if len(heard) != 2 || heard[0] != Declined || heard[1] != Agreed {
		t.Errorf("answers were heard of as %v", heard)
	}
	if _, is := r.Look(one); is != NewTrust {
		t.Errorf("hooks: %v", is)
	}
	if _, is := r.Look(two); is != Agreed {
		t.Errorf("commands: %v", is)
	}
	if got := BriefReviews(r.Review()); !strings.Contains(got, "(hooks: 1)") {
		t.Error(got)
	}
	var none *TrustStore
	none.Add(TrustSource{})
	none.Hear(nil)
	if _, is := none.Look(one); is != NewTrust || none.Review() != nil || none.Guarded() != nil || none.Guards("/x") != "" || none.Agree() == nil || none.Decline() == nil {
		t.Error("where there is no room something is trusted")
	}
}
