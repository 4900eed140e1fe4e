package uitest_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/ui/uitest"
)

// The film's clock: in each beat first a key is pressed, then a word comes, then a picture is taken, and no timer of the
// program is due at the same instant as another of these. So each run writes the same texts.
const (
	beat   = 200 * time.Millisecond
	speaks = 61_700 * time.Microsecond
	taken  = 137_300 * time.Microsecond
)

// until returns how long it takes until the next beat, and then for after.
func until(after time.Duration) time.Duration {
	return beat - time.Duration(time.Now().Add(-after).UnixNano())%beat
}

// wordByWord says a text word by word, as a model writes.
func wordByWord(ctx context.Context, say func(llm.Part) bool, text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		uitest.Pause(ctx, until(speaks))
		if !say(llm.Text{Text: word}) {
			return
		}
	}
}

// demonstrator plays the model of the film.
func demonstrator(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
	prompt, results := uitest.Prompt(req)
	defer say(llm.Usage{Input: 18_000, Output: 900})
	switch {
	case strings.HasPrefix(prompt, "run") && results == 0:
		wordByWord(ctx, say, "I run the script of the build first, then I look at what each finding needs. ")
		say(call("b1", "bash", map[string]string{"command": "sh ci/check.sh"}))
	case strings.HasPrefix(prompt, "run"):
		wordByWord(ctx, say, "All packages pass. Nothing needs a change: `cart`, `pay` and `ship` are clean. ")
	case strings.HasPrefix(prompt, "find"):
		wordByWord(ctx, say, "Two TODOs are open. `cart.go:12` wants vouchers that expire, and nothing reads that field yet. `cart.go:58` wants shipping to islands, which the table of zones can carry as it is. The first is an afternoon, the second an hour. ")
	default:
		wordByWord(ctx, say, "The docs describe three calls that no longer exist. I start with the checkout: `POST /cart/total` returns cents, not a string. The examples follow, then the table of errors, which lacks 409. After that the page on refunds, where the second example sends the old field. Then the changelog, one line for each call, so that a client can be brought up to date from it. ")
	}
	return nil
}

// TestWordsThatArrive: at every moment a reply that streams shows its words with one blank between them.
func TestWordsThatArrive(t *testing.T) {
	t.Parallel()
	const reply = "The docs describe **three calls** that no longer exist, so `total` is first."
	plain := strings.NewReplacer("*", "", "`", "").Replace(reply)
	play(t, uitest.Options{W: 160, Provider: uitest.Script(func(ctx context.Context, _ *llm.Request, say func(llm.Part) bool) error {
		wordByWord(ctx, say, reply)
		return nil
	})}, func(s *uitest.Session) {
		s.Enter("go")
		seen := 0
		for range 180 {
			s.Wait(17 * time.Millisecond)
			for line := range strings.Lines(s.Screen()) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "The docs") {
					if seen++; !strings.HasPrefix(plain, line) {
						t.Fatalf("it shows %q", line)
					}
				}
			}
		}
		if seen < 100 {
			t.Errorf("the reply was seen %d times", seen)
		}
		s.See(plain)
	})
}

// TestPictureThatMoves draws the README's first picture: work handed out, a question answered, mail collected, and the
// window closed and opened again.
func TestPictureThatMoves(t *testing.T) {
	t.Parallel()
	if len(os.TempDir()) > 20 {
		t.Skip("a cell of the Fan cuts so long a path")
	}
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{
			W: 100, H: 28, Provider: uitest.Script(demonstrator), Model: "anthropic/claude-sonnet-4-5", Why: "ANTHROPIC_API_KEY is set", Window: 200_000, Branch: "checkout",
			Files: map[string]string{"ci/check.sh": "for p in cart pay ship; do echo ok shop/$p; done\n"},
		})
		f := uitest.Film{Root: s.Home.Root}
		show := func(d time.Duration) {
			s.Wait(until(taken))
			f.Shot(s.Terminal, d)
		}
		press := func(keys ...string) {
			s.Wait(until(0))
			s.Press(keys...)
		}
		// plays shows what happens in so many steps.
		plays := func(n int) {
			for range n {
				s.Wait(3 * beat)
				show(4 * beat)
			}
		}
		types := func(text string) {
			for part := range slices.Chunk([]rune(text), 7) {
				s.Wait(until(0))
				s.Type(string(part))
				show(130 * time.Millisecond)
			}
			press("enter")
			show(500 * time.Millisecond)
		}
		show(1200 * time.Millisecond)
		for _, p := range []string{"run all checks", "find every TODO and size it", "bring the API docs up to date"} {
			types("&" + p)
		}
		press("f2")
		plays(4)
		s.See("asks")
		show(time.Second)
		press("tab") // to the cell that asks
		plays(2)
		press("y")
		plays(3)
		press("esc")
		plays(2)
		press("alt+c")
		s.Wait(time.Second)
		show(3500 * time.Millisecond)
		s.Enter("/timeline")
		s.Press("down")
		s.Type("++")
		s.Wait(time.Second)
		show(1500 * time.Millisecond)
		for range 4 {
			press("left", "left", "left")
			show(400 * time.Millisecond)
		}
		show(time.Second)
		s.Kill()
		f.Line("$ █", time.Second)
		f.Line("$ fantail█", 700*time.Millisecond)
		s = s.Beside()
		s.Wait(time.Second)
		show(3 * time.Second)
		drawn(t, s, "demo", f.SVG("fantail — shop"), "asks", "checkout", "$ fantail")
	})
}
