package panel

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fantail/agents/hooks"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// reviewed is a trust store with these reviews.
type reviewed struct {
	reviews         []hooks.TrustReview
	agreed, against []string
}

func (r *reviewed) Review() []hooks.TrustReview { return r.reviews }

func (r *reviewed) Agree(all ...hooks.TrustSnapshot) error {
	for _, s := range all {
		r.agreed = append(r.agreed, s.Name)
	}
	return nil
}

func (r *reviewed) Decline(all ...hooks.TrustSnapshot) error {
	for _, s := range all {
		r.against = append(r.against, s.Name)
	}
	return nil
}

func part(name string, is hooks.TrustState, fault error) hooks.TrustReview {
	return hooks.TrustReview{Standing: is, TrustSnapshot: hooks.TrustSnapshot{Fault: fault, TrustPart: hooks.TrustPart{Kind: "hooks", Name: name, Text: name + " runs: x\n"}}}
}

// What is answered is carried out for what was shown, and for what can be trusted; nothing is decided by closing it.
func TestTrust_decides(t *testing.T) {
	theme, err := themes.Load("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	for choice, want := range map[string]string{
		"y": "yes b,c no ", "2": "yes b no ", "1": "yes  no ", "n": "yes  no a,b,c", "": "yes  no ",
	} {
		r := &reviewed{reviews: []hooks.TrustReview{part("a", hooks.NewTrust, errors.New("too large")), part("b", hooks.NewTrust, nil), part("c", hooks.Changed, nil), part("d", hooks.Agreed, nil)}}
		do, ok := Trust{Store: r, Theme: theme}.Trust("")
		if !ok {
			t.Fatal("unexpected")
		}
		is, err := do(t.Context())
		box, opens := is.(intent.Open)
		if err != nil || !opens {
			t.Fatalf("%T, %v", is, err)
		}
		r.reviews = nil // what came meanwhile was not shown
		if choice != "" {
			if run, is := box.Decide(dialog.Confirmed{Choice: choice}).(intent.Run); is {
				run.F(t.Context())
			}
		} else if then := box.Decide(dialog.Cancelled{}); then != nil {
			t.Errorf("closing it does %T", then)
		}
		if got := "yes " + strings.Join(r.agreed, ",") + " no " + strings.Join(r.against, ","); got != want {
			t.Errorf("%q: %s, want %s", choice, got, want)
		}
	}
}

func TestTrust_args(t *testing.T) {
	r := &reviewed{reviews: []hooks.TrustReview{part("a", hooks.Agreed, nil)}}
	for args, want := range map[string]string{"": "a, trusted", "list": "a, trusted", "revoke": "Nothing"} {
		do, ok := Trust{Store: r}.Trust(args)
		if !ok {
			t.Fatalf("unexpected %q", args)
		}
		is, err := do(t.Context())
		if said, _ := is.(intent.Said); err != nil || !strings.Contains(said.Text, want) {
			t.Errorf("%q: %+v, %v", args, is, err)
		}
	}
	if len(r.against) != 1 {
		t.Errorf("taken back: %v", r.against)
	}
	if _, ok := (Trust{Store: r}).Trust("yes"); ok {
		t.Error("a yes can be typed ahead")
	}
}

// The screen shows what changed, what a file holds, and where one leads.
func TestText(t *testing.T) {
	r := part("a", hooks.NewTrust, nil)
	r.About = "Hooks run when it rains."
	r.Files = []hooks.TrustedFile{{Path: "x.sh", Text: strings.Repeat("line\n", 50)}, {Path: "y", Sum: "leads to /z", Out: true}, {Path: "b.bin"}}
	c := part("c", hooks.Changed, nil)
	c.About = r.About
	c.Diff = "--- x.sh\n+++ x.sh\n@@ -1,2 +1,3 @@\n #!/bin/sh\n-old\n+new\n+more\n"
	d := c
	d.Name, d.Diff = "d", c.Diff+"--- y.sh\n+++ y.sh\n@@ -1 +1 @@\n-\tx\x1b[31m\n+y\n"
	theme, err := themes.Load("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, l := range dialog.NewConsent(theme, "Trust?", trustParts([]hooks.TrustReview{r, c, d}), nil).Lines(100, 200) {
		text += strings.TrimRight(strings.Trim(ansi.Strip(l), "│"), " ") + "\n"
	}
	if n := strings.Count(text, "when it rains"); n != 1 {
		t.Errorf("what hooks are is said %d times", n)
	}
	for _, want := range []string{
		"a runs: x", "x.sh:", "(11 more lines)", "y leads to /z, outside", "b.bin is not text", "What changed:\n      x.sh\n      1   #!/bin/sh\n      2 - old\n      2 + new\n      3 + more\n\n 3. hooks: d",
		"What changed:\n      x.sh +2 −1\n      1   #!/bin/sh\n      2 - old\n      2 + new\n      3 + more\n      y.sh +1 −1\n      1 -     x␛[31m\n      1 + y\n", "2. hooks: c, changed since",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestHooks(t *testing.T) {
	theme, err := themes.Load("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	if is := Hooks(theme, nil, nil, nil); !strings.Contains(is.(intent.Said).Text, "No hooks") {
		t.Errorf("%+v", is)
	}
	lines := []hooks.Line{{
		Hook:     hooks.Hook{Event: hooks.PreToolUse, Matcher: "Bash", Command: "./x.sh", Source: hooks.Source{Name: ".claude/settings.json"}, Line: 7},
		Standing: hooks.Agreed, Last: hooks.Ran{At: time.Now(), Exit: 2, Took: time.Second},
	}}
	shown := strings.Join(Hooks(theme, lines, nil, nil).(intent.Open).Box.Lines(100, 30), "\n")
	for _, want := range []string{"PreToolUse (Bash)", "./x.sh", ".claude/settings.json:7", "trusted", "exit 2 after 1s"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
}
