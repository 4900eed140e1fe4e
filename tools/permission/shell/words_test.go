package shell

import (
	"cmp"
	"flag"
	"math/rand"
	"os/exec"
	"strings"
	"testing"

	"fantail/.ci/long"
)

var bashRuns = flag.Int("bash-runs", 0, "how many random commands are compared with what bash makes of them; 0: some, and 500 in a long run")

// bits are parts of commands where shells and parsers differ. There is no pipe, path or redirection among them: those
// have nothing to do with words.
var bits = []string{
	"a", "b", "-", "\\", "'", `"`, "{", "}", ",", "1", "3", "=", "$", "`", "!", "#", "^", "+", "@", "?x", "*", "]", "(", ")", "&", ";", " ", "  ", "\t", "\n",
	"\\\n", "é", "\u00a0", "\u2028", "${", "$(", "$'", `$"`, "\r", "x=", `*\`, `\*`, "''", `""`, "'a b'", `"a\""`, `\{`, `\}`, "-e", "0", "{1..2}", "{a,b}", " \\\n", " #",
}

// show prints each command that bash runs: the name in angle brackets, the arguments after it.
const show = `p() { printf '<%s>' "$1"; shift; [ $# = 0 ] || printf '%s|' "$@"; }
echo() { p echo "$@"; }
command_not_found_handle() { p "$@"; }
`

// TestParse_readsWordsAsBashDoes: the words that are judged are those that run. If a command has nothing that the shell
// would compute, both read the same words.
func TestParse_readsWordsAsBashDoes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	r := rand.New(rand.NewSource(1))
	for n, runs := 0, cmp.Or(*bashRuns, long.Times(100, 500)); n < runs; {
		var b strings.Builder
		b.WriteString("echo ")
		for range 2 + r.Intn(7) {
			b.WriteString(bits[r.Intn(len(bits))])
		}
		s, err := Parse(b.String())
		if err != nil || s.Why != "" || s.Beside { // a background command prints at any time
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
		out, _ := cmd.Output() // the last command's exit code does not matter
		if string(out) != want.String() {
			t.Errorf("%q: bash runs %q, judged is %q", b.String(), out, want.String())
		}
	}
}

// TestParse_readsTextsAsBashDoes: bash makes the same of a constant text, whatever it contains.
func TestParse_readsTextsAsBashDoes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	pieces := []string{
		"a", "'", `"`, "`", "(", ")", "))", "$(", "${x", "$x", "\\", "\\\\", "#", "EOF", " EOF", "EOF ", "EOF)", "\tEOF", "\n", "\n", "\n", ";", "&", "|", "<<'B'", "case x in x)", "it's", "é", "*", "~", "!",
	}
	forms := []string{"p \"$(cat <<'EOF'\n%s\nEOF\n)\" z", "p \"a $(cat<<\"EOF\"  \n%s\nEOF\n \n) b\"", "cat <<'EOF'\n%s\nEOF", "cat <<'EOF' && p z\n%s\nEOF\n"}
	r := rand.New(rand.NewSource(2))
	bashRuns := long.Times(60, 300)
	for n, tries := 0, 0; n < bashRuns && tries < 100*bashRuns; tries++ {
		var body strings.Builder
		for range 1 + r.Intn(8) {
			body.WriteString(pieces[r.Intn(len(pieces))])
		}
		form := r.Intn(len(forms))
		command := strings.Replace(forms[form], "%s", body.String(), 1)
		s, err := Parse(command)
		if err != nil || s.Why != "" {
			continue
		}
		n++
		var want strings.Builder
		for _, c := range s.Commands {
			for _, text := range c.Given {
				want.WriteString(text)
			}
			for _, w := range c.Words[1:] {
				want.WriteString("<" + w.Text + ">")
			}
		}
		cmd := exec.Command(bash, "--norc", "-c", "p() { printf '<%s>' \"$@\"; }\n"+command)
		cmd.Dir = t.TempDir()
		if out, _ := cmd.Output(); string(out) != want.String() {
			t.Errorf("%q: bash has %q, judged is %q", command, out, want.String())
		}
	}
}
