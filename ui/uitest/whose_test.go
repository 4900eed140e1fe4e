package uitest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// asker is a provider whose agents each ask once whether `touch made` may run, when
// they are let; all that they are asked besides they answer.
type asker struct {
	uitest.Script
	mu    sync.Mutex
	waits map[string]chan struct{} // by the prompt
	asked []string                 // the prompts that came, in order
}

func newAsker() *asker {
	a := &asker{waits: map[string]chan struct{}{}}
	a.Script = func(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
		text, results := uitest.Prompt(req)
		a.mu.Lock()
		if results == 0 {
			a.asked = append(a.asked, text)
		}
		wait := a.waits[text]
		a.mu.Unlock()
		if results > 0 || wait == nil {
			say(llm.Text{Text: "Well."})
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
		calls := 1
		if strings.HasSuffix(text, "twice") {
			calls = 2
		}
		for i := range calls {
			id := fmt.Sprintf("c%d", i)
			say(call(id, "bash", map[string]string{"command": "touch made" + strings.Repeat("!", i)}))
		}
		return nil
	}
	return a
}

// on makes the agent with that prompt wait; what it returns lets it ask.
func (a *asker) on(prompt string) (ask func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait := make(chan struct{})
	a.waits[prompt] = wait
	return sync.OnceFunc(func() { close(wait) })
}

// prompts are those that came.
func (a *asker) prompts() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.asked...)
}

// slowly types a text as people do, a letter every tenth of a second.
func slowly(s *uitest.Session, text string) {
	for _, r := range text {
		s.Type(string(r))
		s.Wait(100 * time.Millisecond)
	}
}

// open is how many questions nobody has answered, whoever asks.
func open(s *uitest.Session) (n int) {
	for _, i := range s.Pool.Infos() {
		if i.Question != nil {
			n++
		}
	}
	return n
}

// drafted fails unless nothing was answered and the box holds just that text.
func drafted(t *testing.T, s *uitest.Session, what, box string) {
	t.Helper()
	s.Wait(50 * time.Millisecond)
	if open(s) != 1 {
		t.Errorf("%s: the question was answered", what)
	}
	for _, l := range strings.Split(s.Screen(), "\n") {
		if strings.TrimRight(l, " ") == strings.TrimRight(box, " ") {
			return
		}
	}
	t.Errorf("%s: the box does not hold %q:\n%s", what, box, s.Screen())
}

// settle answers elsewhere what is asked, and empties the box.
func settle(s *uitest.Session) {
	for _, i := range s.Pool.Infos() {
		if i.Question != nil {
			if err := s.Pool.Asks.Answer(context.Background(), i.Question.ID, event.Answer{Choice: permission.No}); err != nil {
				panic(err)
			}
		}
	}
	s.Wait(3 * time.Second)
	s.Press("ctrl+u")
	s.Wait(3 * time.Second)
}

// click clicks on the beginning of the line with that text.
func click(s *uitest.Session, text string) {
	for y, l := range strings.Split(s.Screen(), "\n") {
		if strings.Contains(l, text) {
			s.Send(fmt.Sprintf("\x1b[<0;2;%dM\x1b[<0;2;%dm", y+1, y+1))
		}
	}
}

var sentences = []string{"you should not", "no, it must stay", "yes", "sys 1 2 3", "nyny or so"}

// TestNoSentenceAnswers: a sentence goes on while a question comes, whichever of its
// letters that comes upon, with whatever pauses. It answers nothing, and the draft
// is what was typed.
//
// Spec: R-49, E-26.
func TestNoSentenceAnswers(t *testing.T) {
	t.Parallel()
	pauses := []time.Duration{0, 900 * time.Millisecond, 5 * time.Second}
	for _, where := range []string{"main", "helper"} {
		t.Run(where, func(t *testing.T) {
			a := newAsker()
			play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
				if where == "helper" {
					s.Enter("/agent new help")
					s.See("Agent: help")
				}
				for _, sentence := range sentences[:min(long.Times(1, len(sentences)), len(sentences))] {
					for at := 1; at < len(sentence); at++ {
						before, behind := pauses[at%3], pauses[at/3%3]
						ask := a.on("go")
						s.Enter("go")
						s.Wait(time.Second)
						slowly(s, sentence[:at])
						s.Wait(before)
						ask()
						s.See("wants to run  touch made   ")
						s.Wait(behind)
						slowly(s, sentence[at:])
						drafted(t, s, fmt.Sprintf("%q, after letter %d", sentence, at), "› "+sentence)
						settle(s)
					}
				}
				if _, err := os.Stat(filepath.Join(s.Home.Root, "made")); err == nil {
					t.Error("the command ran")
				}
			})
		})
	}
}

// TestNoLineAnswers: the lines of a background agent's tab are drafts from when they
// are opened.
//
// Spec: R-49, E-26.
func TestNoLineAnswers(t *testing.T) {
	t.Parallel()
	for key, label := range map[string]string{"m": "tell job› ", "/": "as main› /"} {
		for at := range 3 {
			t.Run(fmt.Sprint(key, " ", at), func(t *testing.T) {
				a := newAsker()
				play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
					ask := a.on("go")
					s.Enter("/push name=job go")
					s.See("Queued job")
					s.Enter("/run")
					s.See("job ●")
					s.Press("alt+2")
					s.See("m message")
					s.Wait(3 * time.Second)
					s.Type(key)
					slowly(s, "yes"[:at])
					s.Wait(5 * time.Second)
					ask()
					s.See("wants to run  touch made   ")
					s.Wait(5 * time.Second)
					slowly(s, "yes"[at:]+" you should not, no")
					drafted(t, s, "a line", label+"yes you should not, no")
				})
			})
		}
	}
}

// TestNoBeginningAnswers: a sentence that begins when a question has just come,
// where nobody was typing, answers nothing in its first second and is whole in the
// box. What follows a letter that is none of the answers goes there too.
//
// Spec: R-49, E-26.
func TestNoBeginningAnswers(t *testing.T) {
	t.Parallel()
	a := newAsker()
	play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
		for _, late := range []time.Duration{0, 400 * time.Millisecond, 900 * time.Millisecond} {
			for _, sentence := range sentences {
				ask := a.on("go")
				s.Enter("go")
				s.Wait(5 * time.Second)
				ask()
				s.See("main wants to run a command")
				s.Wait(late)
				slowly(s, sentence)
				drafted(t, s, fmt.Sprintf("%q, after %s", sentence, late), "› "+sentence)
				s.Press("f5")
				s.See("main wants to run a command")
				s.Press("esc")
				settle(s)
			}
		}
		ask := a.on("go")
		s.Enter("go")
		s.Wait(5 * time.Second)
		ask()
		s.See("main wants to run a command")
		s.Wait(time.Minute)
		slowly(s, "hm, yes and no")
		drafted(t, s, "a minute later", "› hm, yes and no")
		settle(s)

		ask = a.on("go")
		s.Enter("go")
		s.Wait(1500 * time.Millisecond) // not at rest yet
		ask()
		s.See("wants to run  touch made   ")
		s.Wait(time.Minute)
		slowly(s, "yes")
		drafted(t, s, "a card stays one", "› yes")
		settle(s)

		ask = a.on("go")
		s.Enter("go")
		s.Wait(5 * time.Second)
		ask()
		s.See("main wants to run a command")
		s.Wait(firstSecond)
		s.Type("n")
		s.See("Instead:")
	})
}

// TestWaysToAQuestion: however a question gets the keyboard, it takes no letter in
// its first moments.
//
// Spec: R-49, E-26.
func TestWaysToAQuestion(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]func(s *uitest.Session){
		"alt+a":   func(s *uitest.Session) { s.Type("half"); s.Press("alt+a") },
		"f5":      func(s *uitest.Session) { s.Type("half"); s.Press("f5") },
		"a click": func(s *uitest.Session) { s.Type("half"); click(s, "▌ main wants to run") },
		"its tab": func(s *uitest.Session) { s.Press("ctrl+pgdown"); s.Type("half"); s.Press("ctrl+pgup") },
		"a dialog that closes": func(s *uitest.Session) {
			s.Press("ctrl+space")
			s.See("Go to")
			s.Wait(3 * time.Second)
			s.Press("esc")
		},
		"a panel that closes": func(s *uitest.Session) {
			s.Press("f3")
			s.See("Inbox · main")
			s.Wait(3 * time.Second)
			s.Press("esc")
		},
		"the focus": func(s *uitest.Session) { s.Wait(time.Minute); s.Send("\x1b[O"); s.Wait(time.Minute); s.Send("\x1b[I") },
	} {
		t.Run(name, func(t *testing.T) {
			a := newAsker()
			play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
				s.Enter("/agent new help")
				s.See("Agent: help")
				s.Press("alt+1")
				s.See("Agent: main")
				ask := a.on("go")
				s.Enter("go")
				s.Wait(5 * time.Second)
				ask()
				s.See("main wants to run a command")
				if name != "the focus" {
					s.Type("x") // so that it is a card
					s.See("wants to run  touch made   ")
					s.Press("ctrl+u")
					s.Wait(5 * time.Second)
				}
				way(s)
				s.See("main wants to run a command")
				for range 5 {
					s.Type("s")
					s.Press("enter")
					s.Wait(90 * time.Millisecond)
				}
				s.Paste("yes\n")
				s.Wait(10 * time.Millisecond)
				if open(s) != 1 || len(a.prompts()) != 1 {
					t.Errorf("it was answered, or more was sent: %q", a.prompts())
				}
			})
		})
	}
}

// TestAfterAQuestion: what was meant for a question that has gone does nothing to
// what was under it; a draft that goes on loses nothing.
//
// Spec: R-49, E-26.
func TestAfterAQuestion(t *testing.T) {
	t.Parallel()
	a := newAsker()
	play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
		pose := func() {
			ask := a.on("go")
			s.Enter("go")
			s.Wait(5 * time.Second)
			ask()
			s.See("main wants to run a command")
			s.Wait(firstSecond)
		}
		pose()
		s.Type("y")
		s.Press("enter")
		s.Wait(100 * time.Millisecond)
		s.Type("yy")
		s.Press("enter")
		s.Wait(10 * time.Second)
		if got := a.prompts(); open(s) != 0 || len(got) != 1 {
			t.Errorf("prompts %q", got)
		}

		pose()
		s.Type("y")
		s.Gone("wants to run a command")
		slowly(s, "yes, and then")
		s.See("› yes, and then")
		s.Press("ctrl+u")
		s.Wait(5 * time.Second)

		// A draft beneath the question goes on, though its Enter waits.
		pose()
		s.Type("half a ")
		s.Press("alt+a")
		s.Wait(time.Second)
		s.Type("y")
		s.Gone("wants to run a command")
		s.Type("yes")
		s.Press("enter")
		s.See("› half a yes")
		s.Wait(time.Second)
		s.Press("enter")
		s.See("▌ half a yes")
		s.Wait(time.Second) // it is asked a moment later
		if got := a.prompts(); got[len(got)-1] != "half a yes" {
			t.Errorf("prompts %q", got)
		}
	})
}

// TestAfterAQuestionOverAPanel: a habitual Enter takes no mail, which would begin a
// turn, and no letter archives it.
//
// Spec: M-35, E-26.
func TestAfterAQuestionOverAPanel(t *testing.T) {
	t.Parallel()
	a := newAsker()
	play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
		ask := a.on("go")
		s.Enter("/push name=job go")
		s.See("Queued job")
		s.Enter("/run")
		s.See("job ●")
		if _, err := s.Pool.Letters.Send(context.Background(), 1, "main", "a note", ""); err != nil {
			t.Fatal(err)
		}
		ask()
		s.See("job ● asks")
		s.Press("f3")
		s.See("Inbox · main", "a note")
		s.Press("alt+a")
		s.See("job wants to run a command", "1  Yes, once")
		s.Wait(time.Second)
		for r := rune('a'); r <= 'z'; r++ {
			s.Type(string(r))
			s.Wait(600 * time.Millisecond)
		}
		if open(s) != 1 {
			t.Error("a letter answered")
		}
		s.Press("1", "enter")
		s.Gone("wants to run a command")
		s.Press("enter", "enter")
		s.Type("ax")
		s.Wait(10 * time.Second)
		s.See("a note", "Inbox · main")
		if got := a.prompts(); open(s) != 0 || len(got) != 1 {
			t.Errorf("prompts %q", got)
		}
	})
}

// TestSecondQuestion: one that follows at once upon an answer takes no key of those
// that came with it.
//
// Spec: R-49, E-26.
func TestSecondQuestion(t *testing.T) {
	t.Parallel()
	a := newAsker()
	play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
		ask := a.on("go twice")
		s.Enter("go twice")
		s.Wait(5 * time.Second)
		ask()
		s.See("main wants to run a command", "$ touch made")
		s.Wait(firstSecond)
		for range 30 {
			s.Type("y")
			s.Wait(30 * time.Millisecond)
		}
		s.See("$ touch made!")
		if open(s) != 1 {
			t.Error("a key that was held down answered the second too")
		}
	})
}

// TestReadingIsNotSent: a command typed into what is only read sends nothing, nor
// does it reach the box.
//
// Spec: M-35.
func TestReadingIsNotSent(t *testing.T) {
	t.Parallel()
	a := newAsker()
	play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
		if _, err := s.Pool.Letters.Send(context.Background(), 1, "main", "a note", ""); err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{"/messages show 1", "/help", "/messages show 1"} {
			s.Enter(in)
			s.Until("it is open", func() bool { return strings.Contains(s.Screen(), "esc close") })
			s.Type("/messages show who is quitting now")
			s.See("esc close")
			s.Press("enter")
			s.Gone("esc closes")
			s.Wait(time.Second)
			s.Press("enter")
		}
		s.Wait(10 * time.Second)
		if got := a.prompts(); len(got) != 0 {
			t.Errorf("prompts %q", got)
		}
	})
}
