package host

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/ui/screen/wire"
)

// frames reads whole frames from r until it ends.
func frames(t *testing.T, r net.Conn) (all []string) {
	t.Helper()
	var buf []byte
	for {
		k, body, grown, err := wire.Read(r, wire.MaxFrame, buf)
		if err != nil {
			return all
		}
		buf = grown
		all = append(all, string(k)+string(body))
	}
}

func TestPainter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		p := newPainter(ours, func(is bool) { t.Errorf("stalled: %t", is) })
		go p.run()
		got := make(chan []string)
		go func() { got <- frames(t, theirs) }()
		_, _ = p.Write([]byte("a\nb"))
		p.send(wire.Halt, nil)
		_, _ = p.Write(bytes.Repeat([]byte("x"), wire.MaxFrame+1))
		p.bye(3, []string{"so long"})
		_, _ = p.Write([]byte("late"))
		_ = ours.Close()
		all := <-got
		want := []string{"Pa\nb", "Z", "P" + strings.Repeat("x", wire.MaxFrame), "Px", "Bcode=3\x00say=so long"}
		if strings.Join(all, "|") != strings.Join(want, "|") {
			t.Errorf("%d frames, the last %.40q", len(all), all[len(all)-1])
		}
	})
}

// TestPainter_stalls: a screen that reads nothing delays no other; the paint that it missed is dropped, other frames are
// not, and frames stay whole.
func TestPainter_stalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		var told []bool
		p := newPainter(ours, func(is bool) { told = append(told, is) })
		go p.run()
		_, _ = p.Write([]byte("x"))
		synctest.Wait() // it waits for the screen
		for range 100 {
			_, _ = p.Write(bytes.Repeat([]byte("y"), 64<<10))
		}
		p.send(wire.Halt, nil)
		time.Sleep(stallsAfter + time.Second)
		synctest.Wait()
		if len(told) != 1 || !told[0] {
			t.Fatalf("told %v", told)
		}
		_, _ = p.Write([]byte("dropped"))
		p.mu.Lock()
		if p.size != 0 || len(p.queue) != 0 && p.queue[0].painted {
			t.Errorf("it keeps %d bytes for a screen that takes nothing", p.size)
		}
		p.mu.Unlock()
		got := make(chan []string)
		go func() { got <- frames(t, theirs) }()
		time.Sleep(time.Second)
		synctest.Wait()
		if len(told) != 2 || told[1] {
			t.Fatalf("told %v", told)
		}
		_, _ = p.Write([]byte("anew"))
		p.bye(0, nil)
		_ = ours.Close()
		all := <-got
		if n := len(all); n < 3 || all[n-1] != "Bcode=0" || all[n-2] != "Panew" {
			t.Errorf("the last of %d frames: %.60q", n, all[max(0, n-2):])
		}
		halted := false
		for _, f := range all {
			halted = halted || f == "Z"
			if strings.Contains(f, "dropped") {
				t.Error("what was painted while it took nothing came late")
			}
		}
		if !halted {
			t.Error("what it was told while it took nothing is lost")
		}
	})
}

// TestPainter_bye: at the end the painter does not wait for a screen that reads nothing.
func TestPainter_bye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, _ := net.Pipe()
		p := newPainter(ours, func(bool) {})
		go p.run()
		began := time.Now()
		p.bye(0, nil)
		if took := time.Since(began); took > endsWithin {
			t.Errorf("its goodbye took %s", took)
		}
		_ = ours.Close()
	})
}

// TestPainter_long: a goodbye that does not fit a frame is cut, and stays valid.
func TestPainter_long(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		p := newPainter(ours, func(bool) {})
		go p.run()
		got := make(chan []string)
		go func() { got <- frames(t, theirs) }()
		p.bye(3, []string{strings.Repeat("x", wire.MaxFrame)})
		_ = ours.Close()
		if all := <-got; len(all) != 1 || !strings.HasPrefix(all[0], "Bcode=3\x00say=xxx") || len(all[0]) != 1+wire.MaxFrame {
			t.Errorf("%d frames: %.40q", len(all), all)
		}
	})
}
