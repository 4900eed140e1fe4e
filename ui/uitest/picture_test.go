package uitest_test

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/agents/vendortest"
	"fantail/inbox"
	"fantail/ui/uitest"
)

var picture = flag.Bool("picture", false, "write the README's pictures, ui/*.svg")

const found = "The sum over a cart is computed **twice**, and the two differ in rounding:\n\n" +
	"- `cart.go:41` rounds each line, then adds\n- `invoice.go:17` adds, then rounds once, which is what the tests expect\n\n" +
	"One function for both:\n\n" +
	"```go\nfunc Total(items []Item) (sum Cents) {\n\tfor _, it := range items {\n\t\tsum += it.Price * Cents(it.Count)\n\t}\n\treturn sum // rounded by whoever prints it\n}\n```\n"

var refactored = map[string]string{
	"cart.go":    "`Total` is one loop now; nothing exported changed.",
	"refund.go":  "Split into **find** and **give back**; the tests of both pass.",
	"invoice.go": "The rounding moved to `Cents.Round`, which was there and unused.",
	"voucher.go": "`Redeem` returns an error instead of panicking; two callers changed.",
	"reports.go": "Three copies of the table writer became one.",
}

// player plays the model of the picture.
func player(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
	prompt, results := uitest.Prompt(req)
	text := func(after time.Duration, s string) {
		uitest.Pause(ctx, after)
		say(llm.Text{Text: s})
	}
	defer say(llm.Usage{Input: 23_000, Output: 1_200})
	switch {
	case strings.HasPrefix(prompt, "where"):
		if results == 0 {
			say(call("g1", "grep", map[string]string{"pattern": "Price"}))
			say(call("r1", "read_file", map[string]string{"path": "cart.go"}))
			return nil
		}
		text(4200*time.Millisecond, found)
	case strings.HasPrefix(prompt, "find every TODO"):
		text(3*time.Second, "Two are left, both in `cart.go`: **vouchers** (line 12) and **shipping to islands** (line 58).")
	case strings.HasPrefix(prompt, "bring the docs"):
		text(10*time.Second, "The docs are up to date.")
	case strings.HasPrefix(prompt, "is the voucher"):
		say(call("d1", "delegate", map[string]string{"name": "voucher", "mode": "sync", "prompt": "Read how vouchers are applied in cart.go and say whether one can be used twice."}))
		say(call("d2", "delegate", map[string]string{"name": "refund", "mode": "sync", "prompt": "Read how refunds give vouchers back and say whether one can come back twice."}))
	case strings.HasPrefix(prompt, "Read how") && results == 0:
		say(call("g2", "grep", map[string]string{"pattern": "type|func"}))
	case strings.HasPrefix(prompt, "refactor"):
		file, _, _ := strings.Cut(strings.TrimPrefix(prompt, "refactor "), " ")
		uitest.Pause(ctx, time.Duration(len(file))*7*time.Second/4)
		text(0, refactored[file])
	case strings.HasPrefix(prompt, "which of"):
		text(2*time.Second, "Only `voucher`: **Redeem** returns an error now, and its two callers were changed with it. The others keep every exported name.")
	case strings.HasPrefix(prompt, "vet"):
		say(call("b1", "bash", map[string]string{"command": "go vet ./..."}))
	default:
		text(time.Hour, "")
	}
	return nil
}

func TestPicture(t *testing.T) {
	t.Parallel()
	o := uitest.Options{
		W: 110, H: 30, Provider: uitest.Script(player), Model: "anthropic/claude-sonnet-4-5", Window: 200_000, Branch: "checkout",
		Files: map[string]string{"cart.go": "package shop\n\ntype Item struct {\n\tPrice Cents\n\tCount int\n}\n", "invoice.go": "package shop\n\nfunc line(i Item) Cents { return i.Price }\n"},
	}
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, o)
		for _, p := range []string{"name=tests run the tests with the race detector", "name=vet vet all packages", "name=todo find every TODO", "name=docs bring the docs up to date", "name=bench measure the checkout"} {
			s.Enter("/push " + p)
		}
		s.Enter("/run")
		s.See("todo ✓")
		s.Enter("where is the sum computed twice?")
		s.See("2 steps", "rounded by whoever")
		s.Enter("/check")
		s.See("islands")
		s.Wait(42 * time.Second)
		s.See("main ○ ✉1 ?1", "tests ●", "vet ● asks", "todo ✓", "docs ✓", "[Agent: main | 📨 1 pending] [Branch: checkout]", "1 asking", "2 running")
		s.Type("/push name=fix let both call Total")
		s.Wait(time.Second)
		draw(t, s, "screen", "[Agent:", "islands", "1 pending", "func", "running")

		s.Press("ctrl+u")
		s.Enter("is the voucher code safe?")
		s.See("delegate voucher", "delegate refund", "ctrl+b run it in the background")
		s.Wait(8 * time.Second)
		draw(t, s, "delegate", "voucher", "background", "waiting")

		s.Press("f2", "l")
		s.See("enter open")
		s.Press("down", "down", "down")
		s.Type("p")
		s.See("todo, live", "vouchers (line 12) and shipping to islands")
		draw(t, s, "agents", "voucher", "asks", "tests")
		s.Press("esc", "esc")
	})
}

// TestPictureOfMail draws a queue that a window drains, and its results as they are
// taken.
func TestPictureOfMail(t *testing.T) {
	t.Parallel()
	o := uitest.Options{
		W: 110, H: 30, Provider: uitest.Script(player), Model: "anthropic/claude-sonnet-4-5", Window: 200_000, Branch: "checkout",
	}
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, o)
		for _, name := range []string{"cart", "refund", "invoice", "voucher", "reports"} {
			s.Enter("/push name=" + name + " refactor " + name + ".go without changing what it does")
			s.See("Queued " + name)
		}
		s.Enter("/run 2")
		s.See("2 running · 3 queued")
		s.Wait(20 * time.Second)
		s.Enter("/queue")
		s.See("Finished:", "  - reports")
		s.See("[Agent: main | 2 pending]", "2 running · 1 queued")
		draw(t, s, "queue", "2 pending", "Running 2 of 5", "Finished", "running")

		s.Wait(time.Minute)
		s.See("5 pending")
		s.Resize(110, 38)
		s.Enter("/new")
		s.See("cleared")
		s.Enter("/receive from=voucher")
		s.See("Redeem returns an error")
		s.Enter("/fire which of them changed what others call?")
		s.See("Only voucher")
		s.Wait(time.Second)
		draw(t, s, "inbox", "Redeem", "#4", "refund", "which of them")
	})
}

// TestPictureOfPanel draws an inbox on the whole screen, with what an agent asks,
// a thread and two messages picked.
func TestPictureOfPanel(t *testing.T) {
	t.Parallel()
	o := uitest.Options{
		W: 110, H: 30, Provider: uitest.Script(player), Model: "anthropic/claude-sonnet-4-5", Window: 200_000, Branch: "checkout",
	}
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, o)
		auth, err := s.Pool.NewHelper(t.Context(), "auth", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"cart", "refund", "voucher"} {
			s.Enter("/push name=" + name + " refactor " + name + ".go without changing what it does")
			s.See("Queued " + name)
		}
		s.Enter("/push name=vet vet all packages")
		s.See("Queued vet")
		first := write(t, s, auth.ID, mail.Letter{Body: "Which flow shall the app use, the code or the device one?", Tags: []string{"oauth"}})
		s.Enter("/run")
		s.Wait(17 * time.Second)
		s.See("cart ✓", "refund ✓", "voucher ✓", "vet ● asks")
		main, err := s.Pool.Letters.Whose(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		sent, err := s.Pool.Letters.Reply(t.Context(), main.ID, first, "The code flow, with PKCE.")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Pool.Letters.Reply(t.Context(), auth.ID, sent.ID, "Done. The token lives in the **keyring** now, and nothing logs it:\n\n- `login.go` has the code flow with PKCE\n- `token.go` refreshes a minute before the end"); err != nil {
			t.Fatal(err)
		}
		write(t, s, auth.ID, mail.Letter{Body: "FYI: the docs name the old endpoint", Priority: inbox.Low, Tags: []string{"docs", "fyi"}})
		s.Press("f3")
		s.See("[All ")
		for _, key := range []string{"down", "down", "space", "space", "down", "right"} {
			s.Press(key)
			s.Wait(time.Second)
		}
		s.See("2 messages, ~", "keyring", "└ main")
		s.Wait(3 * time.Second)
		draw(t, s, "panel", "Needs you", "voucher", "keyring", "2 messages", "▾", "asking")
	})
}

// vendors are Claude Code and Codex, as they would work on a login and its page.
func vendors(t *testing.T) map[string]llm.Provider {
	pause := func(t *acptest.Turn, d time.Duration) {
		select {
		case <-time.After(d):
		case <-t.Context.Done():
		}
	}
	named := func(name string, argv []string, turn func(*acptest.Turn) string) llm.Provider {
		v := vendortest.New(t, func() *acptest.Agent { return &acptest.Agent{Turn: turn} })
		v.Options.Name, v.Options.Program.Argv = name, argv
		return v.Engine()
	}
	return map[string]llm.Provider{
		"acp/claude": named("claude", []string{"/usr/bin/claude-agent-acp"}, func(t *acptest.Turn) string {
			t.Say("The login test fails because `expires` is compared in seconds, and the token has milliseconds.")
			t.Call("c1", "read", "Read auth/token.go")
			t.Done("c1", "func (t Token) Valid(now time.Time) bool {\n\treturn now.Unix() < t.Expires\n}")
			t.Update(`{"sessionUpdate":"tool_call","toolCallId":"c2","kind":"edit","title":"Edit auth/token.go","status":"completed","content":[{"type":"diff","path":"auth/token.go",` +
				`"oldText":"\treturn now.Unix() < t.Expires\n","newText":"\treturn now.UnixMilli() < t.Expires\n"}]}`)
			t.Update(`{"sessionUpdate":"plan","entries":[{"content":"compare milliseconds","status":"completed","priority":"high"},{"content":"run the login tests","status":"in_progress","priority":"high"},{"content":"say so in the changelog","status":"pending","priority":"low"}]}`)
			t.Update(`{"sessionUpdate":"usage_update","used":23000,"size":200000,"cost":{"amount":0.12,"currency":"USD"}}`)
			t.Call("c3", "execute", "go test ./auth/...")
			if t.Ask("c3", "go test ./auth/...", "allow_always: Yes, and don't ask again for go test", "allow_once: Yes", "reject_once: No, and tell Claude what to do instead") == "" {
				return ""
			}
			pause(t, time.Hour)
			return ""
		}),
		"acp/codex": named("codex", []string{"/usr/bin/codex-acp"}, func(t *acptest.Turn) string {
			pause(t, time.Hour)
			return ""
		}),
	}
}

// TestPictureOfVendors draws other vendors' agents at work beside one of the engine that needs no model.
func TestPictureOfVendors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{W: 110, H: 28, Branch: "login", Others: vendors(t)})
		for _, p := range []string{"agent=claude name=auth fix the login test", "agent=codex name=page bring the login page up to date", "name=todo say two TODOs are left"} {
			s.Enter("/push " + p)
			s.See("Queued")
		}
		s.Enter("/run")
		s.See("auth ● asks", "page ●", "todo ✓")
		s.Press("alt+2")
		s.See("milliseconds", "don't ask again", "UnixMilli", "▸ run the login tests")
		s.Wait(9 * time.Second)
		draw(t, s, "vendors", "auth", "page", "claude", "UnixMilli", "asking")
	})
}

// draw checks that the screen is the picture of that name, or makes it so if that is wanted.
func draw(t *testing.T, s *uitest.Session, name string, shows ...string) {
	t.Helper()
	var f uitest.Film
	f.Shot(s.Terminal, time.Second)
	drawn(t, s, name, f.SVG("fantail — shop"), shows...)
}

func drawn(t *testing.T, s *uitest.Session, name, svg string, shows ...string) {
	t.Helper()
	wellFormed(t, svg)
	for _, want := range shows {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture %s does not show %q", name, want)
		}
	}
	if strings.Contains(svg, s.Home.Root) {
		t.Errorf("the picture %s shows a path of this machine", name)
	}
	file := "../" + name + ".svg"
	if *picture {
		if err := os.WriteFile(file, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(file); err != nil {
		t.Error(err)
	} else if svg != string(was) && !slices.Equal(moving(svg), moving(string(was))) {
		t.Errorf("ui/%s.svg is out of date: run go test ./ui/uitest -run TestPicture -picture, and look at what changed", name)
	}
}

// shown finds what a picture writes.
var shown = regexp.MustCompile(`>([^<]+)</text>`)

// moving returns all that a picture which moves writes, each once. Its spinners and pulses are left out: their ticks
// are not tied to the moments at which it is taken. A picture that doesn't move is compared whole.
func moving(svg string) (all []string) {
	if !strings.Contains(svg, "@keyframes") {
		return []string{svg}
	}
	for _, m := range shown.FindAllStringSubmatch(svg, -1) {
		if strings.Trim(m[1], "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏▁▂▃▄▅▆▇█") != "" {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}
