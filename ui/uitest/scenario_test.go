package uitest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"fantail/.ci/long"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// firstSecond is how long a question that came into sight by itself, or with its
// tab, answers to nothing.
const firstSecond = 1100 * time.Millisecond

// TestMainJob does what the program is for, with the engine that needs no model.
func TestMainJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{Files: map[string]string{"a.go": "package a // TODO: more\n"}})
		s.Enter("/push name=tests run echo all tests pass | tee log")
		s.See("Queued tests")
		s.Enter("/push name=vet run touch happy")
		s.See("Queued vet")
		s.Enter("/push name=todo grep TODO")
		s.See("Queued todo", "3 queued")
		s.Enter("/run 2")
		s.See("tests ● asks", "vet ● asks", "2 asking")

		s.Press("alt+2")
		s.See("tests wants to run a command", "$ echo all tests pass")
		s.Wait(firstSecond)
		s.Type("y")
		s.Gone("tests wants to run a command")
		s.See("all tests pass", "vet wants to run a command") // the next question follows

		s.Press("alt+3")
		s.See("vet wants to run a command")
		s.Wait(firstSecond)
		s.Type("n")
		s.See("Instead:")
		s.Type("not on Fridays")
		s.Press("enter")
		s.Gone("wants to run a command")
		s.See("not on Fridays")

		s.Press("alt+4")
		s.See("TODO: more")
		s.Press("alt+1")
		s.See("[Agent: main | 3 pending]", "✉3")

		s.Enter("/receive")
		s.See("#3", "[Agent: main | 2 pending]") // #1 and #2 were the questions
		s.NotSee("#4")
		s.Enter("/check")
		s.See("#4", "#5", "[Agent: main]")
		s.NotSee("pending")
		if tabs, _, _ := strings.Cut(s.Screen(), "\n"); strings.Contains(tabs, "✉") {
			t.Errorf("a tab still shows mail: %s", tabs)
		}
		s.Enter("/check")
		s.See("No messages ready.")

		s.Enter("/push name=late run echo kept | tee log")
		s.See("Queued late")
		s.Enter("/run")
		s.See("late ● asks")
		s.Press("alt+5")
		s.See("late wants to run a command")
		s.Wait(firstSecond)
		s.Type("y")
		s.Gone("wants to run a command")
		s.Press("alt+1")
		s.See("[Agent: main | 1 pending]")
		home := s.Home
		s.Enter("/quit")
		s.Left()
		s.Stop()

		s = uitest.Start(t, uitest.Options{Home: home})
		s.See("#3", "#4", "#5", "TODO: more", "[Agent: main | 1 pending]", "tests ✓", "todo ✓", "late ✓")
		s.Enter("/receive")
		s.See("#7", "kept", "[Agent: main]")
		s.NotSee("pending")
	})
}

func TestSessionRuleAnswersTheNext(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("run touch one then run touch two")
		s.See("▌ main wants to run  touch one")
		s.Press("alt+a")
		s.See("$ touch one", `allow "touch …" until you quit`)
		s.Wait(600 * time.Millisecond)
		s.Type("s")
		s.See("3 steps")
		s.NotSee("asks:")
	})
}

// TestPromptWhileBusy: a prompt typed while the agent works enters at its next seam.
func TestPromptWhileBusy(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	provider := uitest.Script(func(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
		prompt, results := uitest.Prompt(req)
		mu.Lock()
		seen = append(seen, fmt.Sprintf("%s/%d", prompt, results))
		mu.Unlock()
		switch {
		case prompt == "first" && results == 0:
			say(llm.Text{Text: "Looking."})
			uitest.Pause(ctx, 10*time.Second)
			say(call("l1", "list_files", map[string]string{"path": "."}))
		default:
			say(llm.Text{Text: "Answering " + prompt + "."})
		}
		return nil
	})
	play(t, uitest.Options{Provider: provider}, func(s *uitest.Session) {
		s.Enter("first")
		s.See("Looking.")
		s.Enter("second")
		s.See("second · queued")
		s.Wait(5 * time.Second)
		s.NotSee("Answering")
		s.Wait(6 * time.Second)
		s.See("Answering second.")
		s.NotSee("· queued")
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(seen, " "); got != "first/0 second/0" {
			t.Errorf("the requests' last prompts were %q", got)
		}
	})
}

func TestUpTakesBackAQueuedPrompt(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("slow")
		s.See("first word")
		s.Enter("not so fast")
		s.See("not so fast · queued")
		s.Press("up")
		s.Gone("· queued")
		s.See("› not so fast")
		s.Press("ctrl+c")
		s.Gone("not so fast")
		s.Press("esc")
		s.See("stopped")
		s.NotSee("You said")
	})
}

func TestEscStopsTheFocusedTurnOnly(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/push name=tests after 1m of tests")
		s.Enter("/run")
		s.See("tests ●")
		s.Enter("slow")
		s.See("first word", "main ●")
		s.Type("half a dra")
		s.Press("esc")
		s.See("stopped", "main ○", "tests ●", "› half a dra")
		s.Wait(time.Minute)
		s.See("tests ✓", "[Agent: main | 📨 1 pending]", "› half a dra")
	})
}

func TestEarlyKeysAnswerNothing(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("wait 3s then run touch made")
		s.See("wants to run a command")
		s.Type("yyys")
		s.Press("enter")
		s.Wait(300 * time.Millisecond)
		s.Type("y")
		s.Wait(time.Second)
		s.See("wants to run a command")
		if _, err := os.Stat(filepath.Join(s.Home.Root, "made")); err == nil {
			t.Error("a key pressed too early let the command run")
		}
		s.Type("y")
		s.Gone("wants to run a command")
		s.See("✓")
		if _, err := os.Stat(filepath.Join(s.Home.Root, "made")); err != nil {
			t.Error(err)
		}
	})
}

// TestRefusedCommandIsCleared: the box lets go of it, Up brings it back, and the reason
// stands below it.
func TestRefusedCommandIsCleared(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		for in, want := range map[string]string{
			"/chekc":               "unknown command /chekc. Did you mean /check",
			"/xyzzy":               "unknown command /xyzzy. /help to list them",
			"/usr/bin/env fails":   "To send it as a prompt, put a space in front",
			"/run lots":            `"lots" is not a number of agents`,
			"/push timeout=soon x": "timeout=soon is not a time",
			"/push":                "add a prompt",
			"/send":                "add a name and a text",
			"/kill nobody":         "nobody",
			"/theme pink":          `"pink" is not known`,
			"/messages show #99":   "there is no message #99",
		} {
			s.Enter(in)
			s.Until("the screen says "+want, func() bool {
				return strings.Contains(strings.ToLower(s.Screen()), strings.ToLower(want))
			})
			s.Until("the box is empty", func() bool { return typed(s) == "" })
			s.Press("up")
			s.Until("it is back", func() bool { return typed(s) == in })
			s.Press("ctrl+c")
			s.Until("the box is empty again", func() bool { return typed(s) == "" })
		}
	})
}

// passedAround puts a text wherever somebody can write one, and has each place shown.
func passedAround(t *testing.T, s *uitest.Session, text string) {
	t.Helper()
	clear := func(times int) {
		for range times {
			s.Press("ctrl+c")
			s.Wait(3 * time.Second) // two in a row would leave the program
		}
	}
	clear(1)
	if _, err := s.Pool.Letters.Mail(context.Background(), 1, mail.Letter{To: []string{"main"}, Body: text + "\n" + text, Tags: []string{text}}); err != nil {
		t.Log(err)
	}
	for _, c := range []string{"/push " + text, "/push name=" + text + " x", "/queue", "/inbox --list", "/xyzzy" + text, "!echo " + text, "/run", "/memory show " + text, "/agent new " + text, "#mem-" + text} {
		s.Enter(c)
		s.Wait(time.Second)
	}
	for _, panel := range []string{"f2", "f3", "f4", "ctrl+space"} {
		s.Press(panel)
		s.Wait(time.Second)
		for _, key := range []string{"p", "/"} {
			s.Type(key)
			s.Wait(time.Second)
		}
		s.Paste(text)
		s.Wait(time.Second)
		clear(2)
	}
	for _, place := range []string{"alt+2", "alt+3", "alt+1"} {
		s.Press(place)
		s.Type("1")
		s.Wait(time.Second)
		clear(1)
	}
	s.Type("still here")
	s.See("› still here")
	clear(1)
}

// typed is what the prompt box holds, of one line.
func typed(s *uitest.Session) string {
	text, _ := strings.CutPrefix(box(s), "›")
	if strings.HasPrefix(text, " Ask main, & for") { // the box is empty
		return ""
	}
	return strings.TrimSpace(text)
}

// Spec: E-26.
func TestArrivalsLeaveTheDraft(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/push name=tests after 10s of tests")
		s.Enter("/run")
		s.See("tests ●")
		s.Type("a draft with @ and / and")
		s.Press("left", "left", "left")
		s.Wait(time.Second)
		x, y := s.Cursor()
		s.Wait(15 * time.Second)
		s.See("[Agent: main | 📨 1 pending]", "› a draft with @ and / and")
		if a, b := s.Cursor(); a != x || b != y {
			t.Errorf("the cursor went from %d,%d to %d,%d", x, y, a, b)
		}
		s.Type("X")
		s.See("› a draft with @ and / Xand")
	})
}

func TestAltTabWalks(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		for _, n := range []string{"one", "two", "three"} {
			s.Enter("/push name=" + n + " look")
			s.See("Queued " + n)
		}
		s.Enter("/run")
		s.See("three ✓")
		at := func(name string) {
			t.Helper()
			s.See("[Agent: " + name)
		}
		s.Press("alt+2")
		at("one")
		s.Press("alt+4")
		at("three")
		// Recently used: three, one, main, two.
		s.Press("alt+tab")
		at("one")
		s.Wait(500 * time.Millisecond)
		s.Press("alt+tab")
		at("main")
		s.Wait(500 * time.Millisecond)
		s.Press("ctrl+tab")
		at("two")
		s.Wait(2 * time.Second)
		s.Press("alt+tab") // a new walk: the one before
		at("three")
		s.Wait(2 * time.Second)
		s.Press("alt+tab")
		at("two")
		s.Press("ctrl+pgdown")
		at("three")
		s.Press("ctrl+pgdown")
		at("main")
		s.Press("ctrl+pgup")
		at("three")
		s.Press("ctrl+space")
		s.See("Go to")
		s.Type("tw")
		s.Press("enter")
		at("two")
	})
}

func TestShiftTabCyclesModes(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		status := func(want string) {
			t.Helper()
			s.Until("the status line finish with "+want, func() bool { return strings.HasSuffix(s.Status(), want) })
		}
		status("ask")
		s.Press("shift+tab")
		status("accept-edits")
		s.Press("shift+tab")
		status("plan")
		s.Press("shift+tab")
		status("ask")
		s.Press("shift+tab", "shift+tab")
		status("plan")
		s.Enter("run touch no")
		s.See("plan mode is on")
		s.Enter("/mode yolo")
		status("yolo · outside the sandbox")
		s.Press("shift+tab")
		status("ask")
		s.Enter("/mode auto")
		s.See("Mode auto lets commands run unasked in a sandbox, and none works here")
		status("ask")
	})
}

// TestShiftTabOffersAuto: where the sandbox prevents what it should; where it only detects it, auto
// holds if it is asked for by name.
func TestShiftTabOffersAuto(t *testing.T) {
	t.Parallel()
	for wall, offered := range map[permission.Sandbox]bool{permission.Prevents: true, permission.Detects: false} {
		play(t, uitest.Options{Wall: wall, Mode: permission.AcceptEdits}, func(s *uitest.Session) {
			s.See("accept-edits")
			s.Press("shift+tab")
			s.Until("the next mode", func() bool {
				return strings.HasSuffix(s.Status(), "auto") == offered && !strings.HasSuffix(s.Status(), "edits")
			})
			s.Enter("/mode auto")
			s.Until("auto holds", func() bool { return strings.HasSuffix(s.Status(), "auto") })
			s.Press("shift+tab")
			s.Until("plan follows", func() bool { return strings.HasSuffix(s.Status(), "plan") })
		})
	}
}

// TestTell tells a background agent something from its tab: it enters at its next seam, as what the human wrote.
func TestTell(t *testing.T) {
	t.Parallel()
	provider := uitest.Script(func(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
		told := ""
		for _, m := range req.Messages {
			for _, p := range m.Parts {
				if x, ok := p.(llm.Text); ok && x.From == llm.FromPrompt {
					told = x.Text
				}
			}
		}
		if told != "x" {
			say(llm.Text{Text: "I skip them."})
			if told != "skip the slow ones" {
				t.Errorf("it was told %q", told)
			}
			return nil
		}
		say(llm.Text{Text: "At it."})
		uitest.Pause(ctx, 5*time.Second)
		say(call("l1", "list_files", map[string]string{"path": "."}))
		return nil
	})
	play(t, uitest.Options{Provider: provider}, func(s *uitest.Session) {
		s.Enter("/push name=tests x")
		s.Enter("/run")
		s.Press("alt+2")
		s.See("At it.")
		s.Press("m")
		s.See("tell tests›")
		s.Type("a slip")
		s.Press("esc")
		s.Gone("tell tests›")
		s.Press("m")
		s.Enter("skip the slow ones")
		s.See("skip the slow ones")
		s.Wait(6 * time.Second)
		s.See("skip the slow ones", "I skip them.", "tests ✓")
		s.Press("/")
		s.See("as main› /")
		s.Enter("check")
		s.See("Took 1 message: see the tab of main")
		s.Press("alt+1")
		s.See("✉ from tests")
	})
}

func TestShellOfOnesOwn(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Files: map[string]string{"a.txt": "x"}}, func(s *uitest.Session) {
		s.Enter("!ls; echo $((40+2)); exit 3")
		s.See("a.txt", "42", "exit 3")
		s.NotSee("asks:")
	})
}

// TestPasteIsSentByteExact: a paste of a megabyte is a chip in the box and whole
// in the request.
func TestPasteIsSentByteExact(t *testing.T) {
	t.Parallel()
	var sent string
	provider := uitest.Script(func(_ context.Context, req *llm.Request, say func(llm.Part) bool) error {
		sent, _ = uitest.Prompt(req)
		say(llm.Text{Text: "Got it."})
		return nil
	})
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "line %d\twith tabs, 日本 and  spaces \r\n", i)
	}
	text := b.String()
	play(t, uitest.Options{Provider: provider}, func(s *uitest.Session) {
		s.Type("look: ")
		s.Paste(text)
		s.See("[Pasted #1, ")
		s.Type(" thanks")
		s.Press("enter")
		s.See("Got it.")
		s.Wait(time.Second)
		if want := "look: " + text + " thanks"; sent != want {
			t.Errorf("%d bytes were sent, %d pasted; they part at %d", len(sent), len(want), parts(sent, want))
		}
	})
}

func parts(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestScrolledViewStays: output does not move what the user reads.
func TestScrolledViewStays(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{H: 24, Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("long")
		ready(s)
		s.Enter("/push name=tests after 10s of tests")
		s.Enter("/run")
		s.See("tests ●")
		s.Enter("collect")
		s.See("waiting for")
		s.Press("pgup")
		s.Wait(time.Second)
		body := func() string { return strings.Join(strings.Split(s.Screen(), "\n")[2:20], "\n") }
		before := body()
		s.Wait(15 * time.Second)
		s.See("new ↓", "tests ✓")
		if now := body(); now != before {
			t.Fatalf("the view moved from\n%s\nto\n%s", before, now)
		}
		s.Press("end")
		s.See("Collected.")
		s.Gone("new ↓")
	})
}

func TestStreamLeavesAScrolledView(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{H: 24, Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("long")
		ready(s)
		s.Enter("drip")
		s.See("Drop 3.")
		s.Press("pgup", "pgup")
		s.Wait(time.Second)
		body := func() string { return strings.Join(strings.Split(s.Screen(), "\n")[2:20], "\n") }
		before := body()
		for range 10 {
			s.Wait(3 * time.Second)
			if now := body(); now != before {
				t.Fatalf("the view moved from\n%s\nto\n%s", before, now)
			}
		}
		s.See("writing", "end ↓")
		s.Press("end")
		s.See("Drop 3")
		s.Gone("end ↓")
	})
}

func TestTypedBeforeTheWorkspaceIsOpen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Late: true, Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.See("[Agent: main]")
		s.Enter("one")
		s.See("kept until the workspace is open")
		s.Enter("two")
		s.Enter("/psuh x")
		s.See("Did you mean /push", "› /psuh x")
		s.Press("ctrl+c")
		s.Enter("/push name=later say so")
		s.Enter("/push")
		s.Type("half a dr")
		s.Wait(5 * time.Second)
		s.Attach()
		s.See("▌ one", "▌ two", "Queued later. /run to start", "add a prompt", "› half a dr", "1 queued")
		s.Type("aft")
		s.See("› half a draft")
		if a, b := strings.Index(s.Screen(), "▌ one"), strings.Index(s.Screen(), "▌ two"); a > b {
			t.Errorf("the prompts changed places:\n%s", s.Screen())
		}
	})
}

func TestResizeStorm(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
		s.Enter("answer")
		ready(s)
		two(s)
		s.Enter("/check")
		s.Enter("command")
		s.See("▌ main wants to run")
		r := rand.New(rand.NewPCG(1, 2))
		for i := range long.Times(40, 200) {
			s.Resize(r.IntN(251), r.IntN(81))
			switch i % 10 {
			case 3:
				s.Press("ctrl+space")
			case 5:
				s.Press("esc")
			case 7:
				s.Press("alt+2")
			case 8:
				s.Type("/")
			case 9:
				s.Press("alt+1")
			}
			if i%4 == 0 {
				s.Wait(20 * time.Millisecond)
			}
		}
		s.Wait(time.Second)
		s.Resize(120, 36)
		s.Press("alt+1")
		s.See("$ gofmt -l .", "[Agent: main")
		for _, l := range strings.Split(s.Screen(), "\n") {
			if strings.Count(l, "[Agent:") > 1 {
				t.Errorf("the screen is torn:\n%s", s.Screen())
			}
		}
	})
}

// wild are texts that would take the terminal over.
const wild = "A\x1b]52;c;cHduZWQ=\x07B\x1b[2J\x1b[31mC\x9b31mD\u202eE\u2066F\x1b]0;owned\x07G\x1bP1$q\x1b\\H\x1b[?1049lI\x1b_x\x1b\\J\rK\x08L\x00M\u009b5n"

// TestHostileTextNeverReachesTheTerminal: whatever says it, an escape sequence
// that the program did not make is never written.
func TestHostileTextNeverReachesTheTerminal(t *testing.T) {
	t.Parallel()
	hostile := uitest.Script(func(_ context.Context, req *llm.Request, say func(llm.Part) bool) error {
		_, results := uitest.Prompt(req)
		if results == 0 {
			say(llm.Thinking{Text: wild})
			say(llm.Text{Text: "# " + wild + "\n\n```go\n" + wild + "\n```\n\n[" + wild + "](http://x/" + wild + ")\n\n| " + wild + " |\n|---|\n| " + wild + " |\n", Index: 1})
			say(call("b1", "bash", map[string]string{"command": "printf '%s' '" + wild[:12] + "'; cat wild.txt"}))
			return nil
		}
		say(llm.Text{Text: "> " + wild})
		return nil
	})
	play(t, uitest.Options{Provider: hostile, Model: "test/scr" + wild, Branch: "main" + wild, Files: map[string]string{"wild.txt": wild + "\n" + wild}}, func(s *uitest.Session) {
		s.Enter("go")
		s.See("▌ main wants to run")
		s.Press("alt+a")
		s.See("wants to run a command")
		s.Wait(time.Second)
		s.Type("y")
		s.See("2 steps")
		s.Press("ctrl+o")
		s.Wait(time.Second)
		s.Paste(wild)
		s.Press("enter")
		s.Wait(time.Second)
		s.Enter("!cat wild.txt")
		s.Wait(time.Second)
		if _, err := s.Pool.Letters.Send(context.Background(), 1, "main", wild, inbox.Urgent); err != nil {
			t.Log(err)
		}
		s.Enter("/inbox --list")
		s.Enter("/check")
		s.Wait(time.Second)
		s.Enter("/push name=" + strings.ReplaceAll(wild, "\r", "") + " x")
		s.Wait(time.Second)
		s.Press("ctrl+c")
		for _, invisible := range []string{"x\u3164\u115f\u1160\uffa0y", "x\u180b\u180f\u2065\u034f\u17b4y", "x\ufe00\U000e0100\U000e0fff\u2060\ufff0y"} {
			passedAround(t, s, invisible)
		}
		if bad := unknown(s.Raw()); len(bad) > 0 {
			t.Errorf("the program wrote %q", bad)
		}
	})
}

// known are the sequences that the program and its framework write: colours,
// cursor moves, erasing, modes, the title and the questions to the terminal.
var known = regexp.MustCompile(`^(` +
	`\x1b\[[0-9;:]*m|` + // colours
	`\x1b\[[0-9;]*[ABCDEFGHJKLMPSTXZ@abde\x60fgr]|` + // moves, erasing, regions
	`\x1b\[\?(1|5|7|12|25|1000|1002|1003|1004|1006|1047|1048|1049|2004|2026|2027|2031|2048)[hl]|` +
	`\x1b\[\?[0-9]+\$p|\x1b\[[<>=?][0-9;]*[umnc]|\x1b\[[0-9]* q|\x1b\[c|` + // questions, keyboard, cursor shape
	`\x1b\[22;0t|\x1b\[23;0t|` +
	`\x1b\]2;[^\x00-\x1f\x7f-\x9f]*\x07|\x1b\]1[01];\?\x07|\x1b\]11[012]?\x07|` + // title, background
	`\x1b\]8;[^\x00-\x1f\x7f]*\x07|` + // links
	`\x1b[78=>M]|\x1b\(B|[\r\n\t\x08]` +
	`)`)

// unseen tells what a terminal may show as nothing, but for what emoji consist of.
func unseen(r rune) bool {
	return r != 0x200d && r != 0xfe0f && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// unknown are the control characters and sequences in out that are not known,
// each with what follows it.
func unknown(out []byte) (bad []string) {
	for i := 0; i < len(out); {
		c := out[i]
		switch {
		case c >= ' ' && c < 0x7f:
			i++
			continue
		case c >= 0x80:
			r, n := utf8.DecodeRune(out[i:])
			if n == 1 || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || unseen(r) {
				bad = append(bad, string(out[i:min(len(out), i+12)]))
			}
			i += n
			continue
		}
		if m := known.Find(out[i:]); m != nil {
			if strings.Contains(string(m), "owned") || strings.Contains(string(m), "]52") {
				bad = append(bad, string(m))
			}
			i += len(m)
			continue
		}
		bad = append(bad, string(out[i:min(len(out), i+16)]))
		i++
	}
	return bad
}

func TestUnknownFindsWhatIsHostile(t *testing.T) {
	t.Parallel()
	if bad := unknown([]byte("\x1b[1mfine\x1b[m\r\n\x1b]2;fantail\x07\x1b[?25l日本")); len(bad) > 0 {
		t.Errorf("found %q in what is harmless", bad)
	}
	for _, s := range []string{"\x1b]52;c;eA==\x07", "\x1b]0;owned\x07", "\u202e", "\u009b5n", "\x1bP1$q\x1b\\", "\x00", "\x1b[5n", "\x1b[?47h", "\x7f"} {
		if len(unknown([]byte("a"+s+"b"))) == 0 {
			t.Errorf("does not find %q", s)
		}
	}
}

func TestCtrlCTwiceQuits(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Type("draft")
		s.See("› draft")
		s.Press("ctrl+c")
		s.Gone("› draft")
		s.Wait(3 * time.Second)
		s.Press("ctrl+c")
		s.Wait(3 * time.Second)
		s.Press("ctrl+c", "ctrl+c")
		s.Left()
	})
}

// Who sends a task and quits in one breath is asked about it: nobody had time to begin it.
func TestQuitAsksOfWhatWasJustSent(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Send("after 30s of tests\r/quit\r")
		s.See("Quit?", "main is still at work")
		s.Type("w")
		s.Wait(40 * time.Second)
		s.Left()
	})
}

func TestQuitAsksWhenAgentsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := uitest.Options{Provider: uitest.Script(actor)}
		s := uitest.Start(t, o)
		s.Enter("/push name=tests after 30s of tests")
		s.Enter("/run")
		s.See("tests ●")
		s.Enter("/quit")
		s.See("Quit?", "tests is still at work")
		s.Type("c")
		s.Gone("Quit?")
		s.Enter("/quit")
		s.See("Quit?")
		s.Type("w")
		s.See("will quit when all are done")
		s.Wait(15 * time.Second)
		s.See("tests ●")
		s.Wait(20 * time.Second)
		s.Left()
		o.Home = s.Home
		s.Stop()
		s = uitest.Start(t, o)
		s.See("[Agent: main | 📨 1 pending]")
	})
}
