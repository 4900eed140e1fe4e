package bash

import (
	"flag"
	"math/rand"
	"os/exec"
	"strings"
	"testing"
)

var bashRuns = flag.Int("bash-runs", 500, "how many random commands are compared with what bash makes of them")

// bits are what commands are made of where shells and parsers differ. There is
// no pipe, path or redirection among them: those say nothing about words.
var bits = []string{
	"a", "b", "-", "\\", "'", `"`, "{", "}", ",", "1", "3", "=", "$", "`", "!", "#", "^", "+", "@", "?x", "*", "]", "(", ")", "&", ";", " ", "  ", "\t", "\n",
	"\\\n", "é", "\u00a0", "\u2028", "${", "$(", "$'", `$"`, "\r", "x=", `*\`, `\*`, "''", `""`, "'a b'", `"a\""`, `\{`, `\}`, "-e", "0", "{1..2}", "{a,b}", " \\\n", " #",
}

// show prints what bash runs: the name in angle brackets, the arguments after it.
const show = `p() { printf '<%s>' "$1"; shift; [ $# = 0 ] || printf '%s|' "$@"; }
echo() { p echo "$@"; }
command_not_found_handle() { p "$@"; }
`

// TestParse_readsWordsAsBashDoes: what is judged is what runs. A command in
// which nothing is found that the shell would compute means the same words to both.
func TestParse_readsWordsAsBashDoes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	r := rand.New(rand.NewSource(1))
	for n := 0; n < *bashRuns; {
		var b strings.Builder
		b.WriteString("echo ")
		for range 2 + r.Intn(7) {
			b.WriteString(bits[r.Intn(len(bits))])
		}
		s, err := Parse(b.String())
		if err != nil || s.Why != "" {
			continue
		}
		var want strings.Builder
		for _, c := range s.Commands {
			want.WriteString("<" + c.Words[0].Text + ">")
			for _, w := range c.Words[1:] {
				want.WriteString(w.Text + "|")
			}
			for _, w := range c.Words {
				if w.Pattern != "" {
					s.Why = "a pattern"
				}
			}
		}
		if s.Why != "" {
			continue
		}
		n++
		cmd := exec.Command(bash, "--norc", "-c", show+b.String())
		cmd.Dir, cmd.Env = t.TempDir(), []string{"LC_ALL=C.UTF-8", "PATH=/nonexistent"}
		out, _ := cmd.Output() // the last command's own exit code says nothing
		if string(out) != want.String() {
			t.Errorf("%q: bash runs %q, judged is %q", b.String(), out, want.String())
		}
	}
}
