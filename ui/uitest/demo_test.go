package uitest_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/ui/uitest"
)

// wordByWord says a text word by word, as a model writes.
func wordByWord(ctx context.Context, say func(llm.Part) bool, text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		uitest.Pause(ctx, 170*time.Millisecond)
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
		show := func(d time.Duration) { f.Shot(s.Terminal, d) }
		// plays shows what happens in so many steps.
		plays := func(n int) {
			for range n {
				s.Wait(800 * time.Millisecond)
				show(800 * time.Millisecond)
			}
		}
		types := func(text string) {
			for len(text) > 0 {
				n := min(5, len(text))
				s.Type(text[:n])
				s.Wait(20 * time.Millisecond)
				show(130 * time.Millisecond)
				text = text[n:]
			}
			s.Press("enter")
			s.Wait(20 * time.Millisecond)
			show(500 * time.Millisecond)
		}
		s.Wait(time.Second)
		show(1200 * time.Millisecond)
		for _, p := range []string{"run all checks", "find every TODO and size it", "bring the API docs up to date"} {
			types("&" + p)
		}
		s.Press("f2")
		plays(4)
		s.See("asks")
		show(time.Second)
		s.Press("tab") // to the cell that asks
		plays(2)
		s.Press("y")
		plays(4)
		s.Press("esc")
		plays(3)
		s.Press("alt+c")
		s.Wait(time.Second)
		show(3500 * time.Millisecond)
		s.Enter("/timeline")
		s.Press("down")
		s.Type("++")
		s.Wait(time.Second)
		show(1500 * time.Millisecond)
		for range 4 {
			s.Press("left", "left", "left")
			s.Wait(50 * time.Millisecond)
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
