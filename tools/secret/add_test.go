package secret

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// holds is an environment in which KEY has that value.
func holds(value string) func(string) string {
	return func(name string) string {
		if name == "KEY" {
			return value
		}
		return ""
	}
}

// A key from another environment is found from then on, also by existing readers; the first stays known.
func TestKeys_add(t *testing.T) {
	const first, second = "the-first-key-0123", "a-second-key-4567"
	k := New([]string{"KEY", "OTHER"}, holds(first))
	early, left := k.Stream(), k.Stream()
	reader := k.Reader(strings.NewReader(second))
	if got := string(left.Write([]byte("a " + first[:5]))); got != "a " {
		t.Fatalf("%q of a key's beginning is told", got)
	}
	if k.Within(second) {
		t.Fatal("a key is known that nobody brought")
	}
	k.Add(holds(" " + second + "\n"))
	k.Add(holds(""))
	k.Add(holds("short"))
	want := "1 " + Mark("KEY") + " 2 " + Mark("KEY") + " short"
	text := "1 " + first + " 2 " + second + " short"
	if got := k.Text(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(early.Write([]byte(text))) + string(early.End()); got != want {
		t.Errorf("a stream begun before: %q, want %q", got, want)
	}
	if got := string(left.Write([]byte(first[5:] + " "))); got != Mark("KEY")+" " {
		t.Errorf("a stream within a key: %q", got)
	}
	if got := string(left.Write([]byte(second))) + string(left.End()); got != Mark("KEY") {
		t.Errorf("the same stream later: %q", got)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != Mark("KEY") {
		t.Errorf("a reader begun before: %q, %v", got, err)
	}
	if k.Marked(want) != "KEY" {
		t.Error("its mark is unknown")
	}
}

func TestKeys_addToNone(t *testing.T) {
	k := New([]string{"KEY"}, holds(""))
	s := k.Stream()
	if k.Marked(Mark("KEY")) != "" || string(s.Write([]byte("0123456789"))) != "0123456789" {
		t.Error("a key is known that nobody brought")
	}
	k.Add(holds("0123456789"))
	if k.Text("0123456789") != Mark("KEY") || string(s.Write([]byte("0123456789")))+string(s.End()) != Mark("KEY") {
		t.Error("the key that came is not found")
	}
	var zero Keys
	if zero.Add(holds("0123456789")); zero.Within("0123456789") || zero.Marked(Mark("KEY")) != "" {
		t.Error("the zero value knows a key")
	}
}

// A key that is replaced again and again does not make the search grow without end: the latest values stay known.
func TestKeys_addManyTimes(t *testing.T) {
	k := New([]string{"KEY"}, holds(""))
	value := func(n int) string { return fmt.Sprintf("key-number-%04d-of-many", n) }
	for n := range 200 {
		k.Add(holds(value(0)))
		k.Add(holds(value(n)))
	}
	for n, want := range map[int]bool{0: true, 199: true, 193: true, 192: false, 1: false} {
		if k.Within(value(n)) != want {
			t.Errorf("number %d is known: %v", n, !want)
		}
	}
	if states := len(k.scan().deep); states > 20_000 {
		t.Errorf("%d states for eight keys", states)
	}
}

func TestKeys_addBesideReaders(t *testing.T) {
	k := New([]string{"KEY"}, holds("key-number-0000-of-many"))
	var all sync.WaitGroup
	for n := range 4 {
		all.Add(2)
		go func() {
			defer all.Done()
			for i := range 20 {
				k.Add(holds(fmt.Sprintf("key-number-%d-%d-of-many", n, i%2)))
			}
		}()
		go func() {
			defer all.Done()
			s := k.Stream()
			for range 200 {
				if got := string(s.Write([]byte("x"))) + string(s.End()); got != "x" || k.Within("x") || k.Marked("x") != "" {
					t.Errorf("%q", got)
				}
			}
		}()
	}
	all.Wait()
}
