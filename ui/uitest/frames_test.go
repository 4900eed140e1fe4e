package uitest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

const answer = "## What I found\n\n" +
	"The total is computed **twice**: once in `cart.go` and once in `invoice.go`. A plan:\n\n" +
	"1. move it to `price.Total`\n2. call it from both\n3. delete the copies\n\n" +
	"```go\nfunc Total(items []Item) (sum int) {\n\tfor _, it := range items {\n\t\tsum += it.Price * it.Count // cents\n\t}\n\treturn sum\n}\n```\n\n" +
	"| file | lines | keeps |\n|---|---:|---|\n| cart.go | 120 | the cart |\n| invoice.go | 88 | the layout |\n\n" +
	"> Rounding happens once, at the end.\n\nSee [the notes](https://example.com/notes) for why.\n"

const cart = "package shop\n\nfunc greet(name string) string {\n\treturn \"Hello \" + name\n}\n"

func call(id, tool string, args any) llm.Part {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llm.ToolCall{ID: id, Name: tool, Args: b}
}

// actor plays the model: the prompt says what.
func actor(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
	prompt, results := uitest.Prompt(req)
	word, rest, _ := strings.Cut(prompt, " ")
	text := func(s string) { say(llm.Text{Text: s}) }
	defer say(llm.Usage{Input: 1200, Output: 340})
	tool := func(after string, calls ...llm.Part) {
		if results > 0 {
			text(after)
			return
		}
		for _, c := range calls {
			say(c)
		}
	}
	switch word {
	case "answer":
		text(answer)
	case "think":
		say(llm.Thinking{Text: "The user wants a plan.\nI should look at the cart first."})
		text("Done thinking.")
	case "stream":
		say(llm.Thinking{Text: "Where is the total computed? Let me look."})
		for _, s := range strings.SplitAfter("Reading the **cart** first.\n\nThen the `invoice`, whose total", " ") {
			say(llm.Text{Text: s, Index: 1})
			uitest.Pause(ctx, 20*time.Millisecond)
		}
		uitest.Pause(ctx, time.Hour)
	case "edit":
		tool("Renamed the greeting.", call("e1", "edit_file", map[string]any{"path": "cart.go", "edits": []any{map[string]string{"old": "\"Hello \" + name", "new": "\"Good morning, \" + name"}}}))
	case "lines":
		tool("Forty lines.", call("b1", "bash", map[string]string{"command": "seq -f 'line %g' 1 40"}))
	case "command":
		tool("Formatted.", call("b1", "bash", map[string]string{"command": "gofmt -l . && echo 'all files are formatted'"}))
	case "fail":
		uitest.Pause(ctx, 2*time.Second)
		return &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "the request was refused: " + rest}
	case "collect":
		tool("Collected.", call("r1", "receive", map[string]string{}))
	case "dispatch":
		tool("Dispatched.", call("p1", "push", map[string]any{"name": "kid", "prompt": "slow", "start": true}))
	case "long":
		for i := range 60 {
			text(fmt.Sprintf("Paragraph %d of a long answer.\n\n", i+1))
		}
	case "slow": // reports, then works on until somebody ends it
		text("A first word.")
		uitest.Pause(ctx, time.Hour)
	case "drip": // a line a second
		for i := range 60 {
			text(fmt.Sprintf("Drop %d.\n\n", i+1))
			uitest.Pause(ctx, time.Second)
		}
	case "look":
		tool("All **two** files were looked at; nothing is wrong.",
			call("l1", "list_files", map[string]string{"path": "."}), call("l2", "read_file", map[string]string{"path": "cart.go"}))
	case "lookslow":
		if results > 0 {
			text("Two files so far, ")
			uitest.Pause(ctx, time.Hour)
			return nil
		}
		say(call("l1", "list_files", map[string]string{"path": "."}))
		say(call("l2", "read_file", map[string]string{"path": "cart.go"}))
	case "after": // works for so long, then answers
		d, _ := time.ParseDuration(strings.Fields(rest)[0])
		uitest.Pause(ctx, d)
		text("Finished " + rest + ".")
	default:
		text("You said: " + prompt)
	}
	return nil
}

// play runs f as a bubble of fake time.
func play(t *testing.T, o uitest.Options, f func(s *uitest.Session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(uitest.Start(t, o)) })
}

var files = map[string]string{"cart.go": cart, "go.mod": "module shop\n", "docs/notes.md": "# Notes\n", "greeting_test.go": "package shop\n"}

type scene struct {
	name string
	o    uitest.Options
	play func(s *uitest.Session)
}

// ready waits until main has answered.
func ready(s *uitest.Session) { s.See("1 step") }

var scenes = []scene{
	{"welcome", uitest.Options{}, func(*uitest.Session) {}},
	{"streaming", uitest.Options{}, func(s *uitest.Session) { s.Enter("stream"); s.See("total") }},
	{"answer", uitest.Options{Window: 200_000}, func(s *uitest.Session) { s.Enter("answer"); ready(s) }},
	{"thinking", uitest.Options{}, func(s *uitest.Session) { s.Enter("think"); ready(s) }},
	{"tool-waits", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=tests after 10m")
		s.See("Queued tests")
		s.Enter("/run")
		s.See("Running 1 of 1")
		s.Enter("collect")
		s.See("receive")
		s.Wait(3500 * time.Millisecond)
	}},
	{"edited", uitest.Options{Mode: permission.AcceptEdits}, func(s *uitest.Session) { s.Enter("edit"); s.See("2 steps") }},
	{"folded", uitest.Options{Mode: permission.Yolo}, func(s *uitest.Session) { s.Enter("lines"); s.See("2 steps") }},
	{"unfolded", uitest.Options{Mode: permission.Yolo}, func(s *uitest.Session) { s.Enter("lines"); s.See("2 steps"); s.Press("ctrl+o") }},
	{"question-command", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("command")
		s.See("▌ main wants to run")
		s.Press("f5")
		s.See("wants to")
	}},
	{"question-card", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("command")
		s.Type("and the")
		s.See("▌ main wants to run", "› and the")
	}},
	{"question-diff", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("edit")
		s.See("▌ main wants to edit")
		s.Press("f5")
		s.See("wants to")
	}},
	{"question-reason", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("command")
		s.See("▌ main wants to run")
		s.Press("alt+a")
		s.See("wants to")
		s.Wait(time.Second)
		s.Type("nnot now")
		s.See("Instead:")
	}},
	{"background-running", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=tests lookslow")
		s.See("Queued tests")
		s.Enter("/run")
		s.Press("alt+2")
		s.See("so far")
		s.Wait(3 * time.Second)
	}},
	{"background-ended", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=tests look")
		s.See("Queued tests")
		s.Enter("/run")
		s.Press("alt+2")
		s.See("2 steps")
	}},
	{"background-tell", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=tests after 10m")
		s.See("Queued tests")
		s.Enter("/run")
		s.Press("alt+2")
		s.See("after 10m")
		s.Type("m")
		s.Type("skip the slow ones")
		s.See("tell tests", "skip the slow ones")
	}},
	{"idle", uitest.Options{}, func(s *uitest.Session) { idle(s) }},
	{"idle-tab", uitest.Options{}, func(s *uitest.Session) {
		idle(s)
		s.Press("alt+2")
		s.Until("without input; the time stops while someone looks at its tab or is attached", func() bool { return !strings.Contains(s.Screen(), "4:1") })
		s.Enter("/why auth")
		s.See("/kill auth as stopped")
	}},
	{"idle-attached", uitest.Options{}, func(s *uitest.Session) {
		idle(s)
		attach(s, "auth")
		s.Until("without input; the time stops while someone looks at its tab or is attached", func() bool { return !strings.Contains(s.Screen(), "4:1") })
		s.Enter("/why auth")
		s.See("/kill auth as stopped")
	}},
	{"idle-attached-tab", uitest.Options{}, func(s *uitest.Session) {
		idle(s)
		attach(s, "auth")
		s.Press("alt+2")
		s.Until("without input; the time stops while someone looks at its tab or is attached", func() bool { return !strings.Contains(s.Screen(), "4:1") })
		s.Type("4")
		s.See("Info]", "awaits")
	}},
	{"idle-agents", uitest.Options{}, func(s *uitest.Session) {
		idle(s)
		attach(s, "ever")
		s.Press("f2", "l", "down")
		s.See("Agents · 4", "─ enter open · m message")
	}},
	{"idle-tell", uitest.Options{}, func(s *uitest.Session) {
		idle(s)
		s.Press("f2", "l", "down")
		s.Type("m")
		s.See("tell auth›")
		s.Type("now also the invoice")
		s.See("also the invoice")
	}},
	{"idle-ends", uitest.Options{}, func(s *uitest.Session) {
		idle(s)
		s.Press("f2", "l", "down")
		s.See("Agents · 4")
		s.Type("e")
		s.See("auth ends")
		s.See("auth ✓", "─ enter open · m continue")
	}},
	{"check", uitest.Options{}, func(s *uitest.Session) { collected(s) }},
	{"queue", uitest.Options{}, func(s *uitest.Session) {
		three(s)
		s.Enter("/queue")
		s.See("Queued:")
	}},
	{"inbox", uitest.Options{}, func(s *uitest.Session) {
		two(s)
		s.Wait(3500 * time.Millisecond)
		s.Enter("/inbox --list")
		s.See("Messages:")
	}},
	{"help", uitest.Options{}, func(s *uitest.Session) { s.Enter("/help"); s.See("Help") }},
	{"keys", uitest.Options{}, func(s *uitest.Session) { s.Press("?"); s.See("Keys", "send") }},
	{"palette", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("grep nothing")
		s.See("1 step")
		s.Press("ctrl+p")
		s.Type("inb")
		s.See("Commands and keys", "/inbox · F3")
	}},
	{"keys-tab", uitest.Options{}, func(s *uitest.Session) { two(s); s.Press("alt+2", "?"); s.See("Keys", "message the agent") }},
	{"mode", uitest.Options{}, func(s *uitest.Session) { s.Enter("/mode"); s.See("Mode (now ask)") }},
	{"switcher", uitest.Options{}, func(s *uitest.Session) { two(s); s.Press("ctrl+space"); s.See("Go to") }},
	{"complete-command", uitest.Options{}, func(s *uitest.Session) { s.Type("/me"); s.See("/messages") }},
	{"complete-file", uitest.Options{}, func(s *uitest.Session) { s.Type("look at @gr"); s.See("greeting_test.go") }},
	{"quit", uitest.Options{}, func(s *uitest.Session) { s.Enter("slow"); s.See("first word"); s.Enter("/quit"); s.See("Quit?") }},
	{"no-color", uitest.Options{Environ: []string{"NO_COLOR=1"}}, func(s *uitest.Session) { collected(s) }},
	{"ascii", uitest.Options{Environ: []string{"LANG=C"}}, func(s *uitest.Session) { collected(s) }},
	{"new-below", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("long")
		ready(s)
		s.Enter("/push name=tests look")
		s.Enter("/push name=vet fail not allowed")
		s.Enter("/run")
		s.See("✉2")
		s.Enter("after 3s")
		s.Wait(time.Second) // all that is there before the reply
		s.Send("\x1b[5~\x1b[5~")
		s.Wait(5 * time.Second)
		s.See("new ↓")
	}},
	{"writing-below", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("long")
		ready(s)
		s.Enter("slow")
		s.See("first word")
		s.Send("\x1b[5~\x1b[5~")
		s.See("writing · ", "end ↓")
	}},
	{"queued-prompt", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("slow")
		s.See("first word")
		s.Enter("and then look at the invoice")
		s.See("queued")
	}},
	{"view-prompt", uitest.Options{}, func(s *uitest.Session) { fanOut(s); s.Type("1"); s.See("Prompt]", "kept") }},
	{"view-output", uitest.Options{}, func(s *uitest.Session) { fanOut(s); s.Type("3"); s.See("Output]", "All two files") }},
	{"view-info", uitest.Options{}, func(s *uitest.Session) { fanOut(s); s.Type("4"); s.See("Info]", "read_file 1") }},
	{"view-info-main", uitest.Options{}, func(s *uitest.Session) {
		two(s)
		s.Enter("/view info")
		s.See("children", "vet (failed)")
	}},
	{"fan", uitest.Options{}, func(s *uitest.Session) { fleet(s); s.Press("f2"); s.See("Fan  6 agents", "so far") }},
	{"fan-one", uitest.Options{}, func(s *uitest.Session) {
		fleet(s)
		s.Press("f2", "right")
		s.Type(" ")
		s.See("tests", "so far")
		s.Gone("waiting for kid")
	}},
	{"fan-find", uitest.Options{}, func(s *uitest.Session) { fleet(s); s.Press("f2"); s.Type("/do"); s.See("/ do", "nothing is wrong") }},
	{"fan-ascii", uitest.Options{Environ: []string{"LANG=C", "NO_COLOR=1"}}, func(s *uitest.Session) { fleet(s); s.Press("f2"); s.See("Fan  6 agents", "so far") }},
	{"fan-asks", uitest.Options{Mode: permission.Ask}, func(s *uitest.Session) {
		for _, x := range [][2]string{{"format", "command"}, {"greet", "edit"}, {"tests", "look"}} {
			s.Enter("/push name=" + x[0] + " " + x[1])
			s.See("Queued " + x[0])
		}
		s.Enter("/run")
		s.See("2 asking", "tests ✓")
		s.Press("f2", "right")
		s.See("y yes, once", "Good morning")
	}},
	{"agents", uitest.Options{}, func(s *uitest.Session) { fleet(s); s.Press("f2", "l"); s.See("Agents · 6") }},
	{"agents-peek", uitest.Options{}, func(s *uitest.Session) {
		fleet(s)
		s.Press("f2", "l")
		s.See("Agents · 6")
		s.Press("down")
		s.Type("p")
		s.See("tests, live", "so far")
	}},
	{"agents-find", uitest.Options{}, func(s *uitest.Session) {
		fleet(s)
		s.Press("f2", "l")
		s.See("waiting for kid")
		s.Type("/running")
		s.See("/ running")
		s.Gone("waiting for kid")
	}},
	{"agents-kill", uitest.Options{}, func(s *uitest.Session) {
		fleet(s)
		s.Press("f2", "l", "down")
		s.Type("x")
		s.See("End tests?")
	}},
	{"agents-ascii", uitest.Options{Environ: []string{"LANG=C", "NO_COLOR=1"}}, func(s *uitest.Session) { fleet(s); s.Press("f2", "l"); s.See("Agents - 6") }},
	{"stalled", uitest.Options{}, func(s *uitest.Session) {
		fleet(s)
		s.Wait(100 * time.Second)
		s.Press("alt+2")
		s.See("stalled", "so far")
		s.Type("/why tests")
		s.Press("enter")
		s.See("last active")
	}},
	{"stalled-agents", uitest.Options{}, func(s *uitest.Session) {
		fleet(s)
		s.Wait(100*time.Second + 400*time.Millisecond)
		s.Press("f2", "l")
		s.See("Agents · 6")
	}},
	{"wrapped-up", uitest.Options{}, func(s *uitest.Session) {
		fleet(s)
		s.Enter("/wrapup tests")
		s.See("tests was asked to wrap up")
		s.Press("alt+2")
		s.See("Wrap up now", "queued")
	}},
	{"error", uitest.Options{}, func(s *uitest.Session) {
		s.Enter("fail no such model")
		s.See("refused")
		s.Enter("/quueue")
		s.See("Did you mean")
	}},
}

// two is one task that answers and one that fails, both ended and not collected.
func two(s *uitest.Session) {
	s.Enter("/push name=tests look")
	s.See("Queued tests")
	s.Enter("/push name=vet fail this is not allowed")
	s.See("Queued vet")
	s.Enter("/run")
	s.Until("both have ended", func() bool {
		tabs, _, _ := strings.Cut(s.Screen(), "\n")
		return strings.HasSuffix(tabs, "vet ✗") || strings.HasSuffix(tabs, "vet x")
	})
}

// fanOut is a task with an answer, in whose tab the human is.
func fanOut(s *uitest.Session) {
	s.Enter("/push name=tests timeout=10m deliver=next look at the cart and at the invoice: is the total computed once? Every answer is kept, so say all that you find, with the file and the line it stands in.")
	s.See("Queued tests")
	s.Enter("/run")
	s.See("✓")
	s.Press("alt+2")
	s.See("2 steps")
}

// fleet is agents in every state, one of them with a child.
func fleet(s *uitest.Session) {
	for _, x := range [][2]string{{"tests", "lookslow"}, {"vet", "fail not allowed"}, {"docs", "look"}, {"job", "dispatch"}} {
		s.Enter("/push name=" + x[0] + " " + x[1])
		s.See("Queued " + x[0])
	}
	s.Enter("/run")
	s.Until("all have begun", func() bool {
		n := 0
		for _, i := range s.Pool.Infos() {
			if i.Kind != event.Sub {
				continue
			}
			n++
			if i.Doing == "starting" || i.Name == "vet" && !i.State.Terminal() || i.Name == "docs" && !i.State.Terminal() || i.Name == "job" && i.State != event.Waiting {
				return false
			}
		}
		return n == 5
	})
	s.Wait(3 * time.Second)
}

// idle is an agent whose time runs, one that stays for ever, and one that ended.
func idle(s *uitest.Session) {
	for _, x := range [][2]string{{"auth", "interactive idle=5m look"}, {"ever", "interactive idle=0 look"}, {"docs", "look"}} {
		s.Enter("/push name=" + x[0] + " " + x[1])
		s.See("Queued " + x[0])
	}
	s.Enter("/run 1") // one after another: their results arrive in this order
	s.Until("they have reported", func() bool {
		n := 0
		for _, i := range s.Pool.Infos() {
			if i.Kind == event.Sub && (i.Await != nil && i.State == event.Idle || i.State == event.Done) {
				n++
			}
		}
		return n == 3
	})
	s.Wait(45 * time.Second)
	s.Until("its time runs", func() bool { return strings.Contains(s.Screen(), "4:12") })
}

// attach has a program follow an agent, as fantail agents attach does, to the end of the test.
func attach(s *uitest.Session, name string) {
	if _, _, err := s.Pool.Attach(context.Background(), name); err != nil {
		panic(err)
	}
}

// collected is two, collected.
func collected(s *uitest.Session) {
	two(s)
	s.Enter("/check")
	s.See("#2")
}

// three is a queue of three with a window of one.
func three(s *uitest.Session) {
	for _, n := range []string{"tests", "vet", "todo"} {
		s.Enter("/push name=" + n + " after 10s of " + n)
		s.See("Queued " + n)
	}
	s.Enter("/run 1")
	s.Wait(14 * time.Second)
}

// sizes are the frames' widths, each with a height such a window has.
var sizes = [][2]int{{40, 20}, {80, 24}, {120, 36}, {200, 50}}

// usual is the size at which a session is played whose screen goldens compares.
var usual = sizes[2]

// goldens compares what the screen shows at each size, and leaves it at the usual one: what is drawn depends on how large the
// window is, not on how large it was.
func goldens(s *uitest.Session, name string) {
	for _, size := range [][2]int{usual, sizes[0], sizes[3], sizes[1]} {
		s.Resize(size[0], size[1])
		s.Golden(fmt.Sprintf("%s-%d", name, size[0]))
	}
	s.Resize(usual[0], usual[1])
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			o := sc.o
			o.W, o.H, o.Provider, o.Files = usual[0], usual[1], uitest.Script(actor), files
			play(t, o, func(s *uitest.Session) {
				sc.play(s)
				goldens(s, sc.name)
			})
		})
	}
}

func TestFrameTooSmall(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("answer")
		ready(s)
		s.Resize(20, 5)
		s.See("too small")
		s.Golden("too-small-20")
		s.Resize(80, 24)
		s.See("Rounding")
	})
}

func TestFrameTabRowOverflows(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: usual[0], H: usual[1], Provider: uitest.Script(actor), Cap: 4}, func(s *uitest.Session) {
		for i := range 12 {
			s.Enter(fmt.Sprintf("/push name=agent%02d after %ds", i, 8*(i+1)))
			s.See(fmt.Sprintf("Queued agent%02d", i))
		}
		s.Enter("/run")
		s.Wait(18 * time.Second)
		s.Press("ctrl+space")
		s.Type("agent05")
		s.Press("enter")
		s.See("after 48s")
		goldens(s, "tabs")
	})
}

// TestStyles holds the colours of the dark theme, as letters under the lines.
func TestStyles(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: 80, H: 40, Provider: uitest.Script(actor), Files: files, Mode: permission.AcceptEdits}, func(s *uitest.Session) {
		s.Enter("edit")
		s.See("2 steps")
		two(s)
		s.Enter("/check")
		s.See("#2")
		s.GoldenStyles("styles-80")
	})
}

func TestNoColorHasNone(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor), Environ: []string{"NO_COLOR=1"}}, func(s *uitest.Session) {
		s.Enter("answer")
		ready(s)
		s.Wait(time.Second)
		for _, seq := range []string{"\x1b[38;", "\x1b[48;", ";38;", ";48;", "\x1b[31m", "\x1b[91m"} {
			if strings.Contains(string(s.Raw()), seq) {
				t.Errorf("with NO_COLOR the program wrote %q", seq)
			}
		}
	})
}
