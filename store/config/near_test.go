package config

import "testing"

func TestWord(t *testing.T) {
	words := []string{"push", "run", "queue", "receive", "check", "--permission-mode", "help"}
	for in, want := range map[string]string{
		"chekc": "check", "pus": "push", "qeue": "queue", "RECIEVE": "receive", "recive": "receive", "h": "help", "--permision-mod": "--permission-mode",
		"": "", "xyzzy": "", "bush": "push", "bash": "", "push": "push", "pushpush": "",
	} {
		if got := Nearest(in, words); got != want {
			t.Errorf("%q is like %q, want %q", in, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"run", "run", 0}, {"run", "rub", 1}, {"kitten", "sitting", 3}, {"recieve", "receive", 1}, {"modle", "model", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q it is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
