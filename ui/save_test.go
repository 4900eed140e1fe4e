package ui

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"fantail/store"
	"fantail/ui/intent"
)

// carry carries out what the drafts want, as the App does, with the program's goroutine in turn.
func carry(ctx context.Context, turn chan struct{}, i intent.Intent) {
	switch i := i.(type) {
	case intent.Call:
		turn <- struct{}{}
		next := i()
		<-turn
		carry(ctx, turn, next)
	case intent.Run:
		go func() { carry(ctx, turn, i.F(ctx)) }()
	}
}

// TestTouched: what is typed is on disk within seconds, and is written only when it has changed.
func TestTouched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &memoryDrafts{}
		d := draftScreen(t, DraftOptions{})
		turn, box := make(chan struct{}, 1), d.Tabs.Main().Box
		kept := func(after time.Duration, saves int, want ...store.Draft) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.saves != saves || !reflect.DeepEqual(p.saved, want) {
				t.Errorf("%d saves, want %d; %v, want %v", p.saves, saves, p.saved, want)
			}
		}
		typed := func(text string) {
			turn <- struct{}{}
			box.Insert(text)
			i := d.Touched()
			<-turn
			carry(t.Context(), turn, i)
		}
		typed("before there is a pool ")
		kept(time.Minute, 0)
		d.store = p
		for range 10 { // three seconds
			typed("x")
			time.Sleep(300 * time.Millisecond)
		}
		kept(0, 1, store.Draft{Agent: 1, Text: "before there is a pool xxxxxxx"})
		all := store.Draft{Agent: 1, Text: "before there is a pool xxxxxxxxxx"}
		kept(savesAfter, 2, all)
		typed("") // a key that types nothing
		kept(time.Hour, 2, all)
		box.Clear()
		typed("")
		kept(0, 3) // at once: it was sent
		kept(time.Hour, 3)
	})
}

// TestTouched_sentWhileItIsKept: what is sent while it is being written is no draft once that is through, and what is
// typed after it is one in time.
func TestTouched_sentWhileItIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &memoryDrafts{slow: time.Second}
		d := draftScreen(t, DraftOptions{})
		d.store = p
		turn, box := make(chan struct{}, 1), d.Tabs.Main().Box
		does := func(does func()) {
			turn <- struct{}{}
			does()
			i := d.Touched()
			<-turn
			carry(t.Context(), turn, i)
		}
		kept := func(want ...store.Draft) {
			t.Helper()
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			if !reflect.DeepEqual(p.saved, want) {
				t.Errorf("%v, want %v", p.saved, want)
			}
		}
		does(func() { box.Insert("half of it") })
		time.Sleep(savesAfter + p.slow/2)
		does(func() { box.Clear() })
		time.Sleep(p.slow / 2)
		kept(store.Draft{Agent: 1, Text: "half of it"})
		time.Sleep(p.slow)
		kept()
		does(func() { box.Insert("the next") })
		time.Sleep(savesAfter + p.slow)
		kept(store.Draft{Agent: 1, Text: "the next"})
		does(func() { // in place of what was sent
			box.Clear()
			d.Tabs.Main().Question = answer{text: "an answer"}
		})
		time.Sleep(savesAfter + p.slow)
		kept(store.Draft{Agent: 1, Text: "an answer"})
	})
}
