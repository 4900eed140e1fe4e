package proc

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// Lines are whole however they are written; Half reports an unfinished one; one that is too long is an error before it
// ends.
func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		lines := NewLines(r, 1<<20)
		got := make(chan string)
		go func() {
			for {
				line, err := lines.Next()
				got <- string(line)
				if err != nil {
					got <- err.Error()
					return
				}
			}
		}()
		for _, step := range []struct {
			write, want string
			half        bool
		}{
			{"tw", "", true},
			{"o", "", true},
			{"\n", "two\n", false},
			{"\n", "\n", false},
			{strings.Repeat("x", 1<<20-1), "", true},
			{"\n", strings.Repeat("x", 1<<20-1) + "\n", false},
			{strings.Repeat("x", 1<<20), "", true},
			{"x", "", true},
		} {
			if _, err := io.WriteString(w, step.write); err != nil {
				t.Fatal(err)
			}
			if synctest.Wait(); lines.Half() != step.half {
				t.Errorf("after %.9q: half is %v", step.write, lines.Half())
			}
			if step.want != "" {
				if line := <-got; line != step.want {
					t.Errorf("%.9q came as %.9q", step.want, line)
				}
			}
		}
		if line, why := <-got, <-got; line != "" || why != "it wrote a message of more than 1 MiB" {
			t.Errorf("%.9q, %s", line, why)
		}
	})
}

// Text after the last end of a line comes with the end of the output.
func TestLines_ends(t *testing.T) {
	lines := NewLines(strings.NewReader("one\ntwo\nhal"), 1<<20)
	for _, want := range []string{"one\n", "two\n"} {
		if line, err := lines.Next(); string(line) != want || err != nil {
			t.Errorf("%q, %v", line, err)
		}
	}
	if line, err := lines.Next(); string(line) != "hal" || !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", line, err)
	}
}

// The error line is kept, whichever program wrote it and however much follows.
func TestLastLines(t *testing.T) {
	const trace = "    at one (node:internal/one:1:2)\n    at two (node:internal/two:1:2)\n    at three (node:internal/three:1:2)\n    at four (node:internal/four:1:2)\n"
	for _, c := range []struct{ text, first string }{
		{"node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module '@scope/sdk'\nRequire stack:\n- /tmp/x.js\n" + trace + "  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.11.0\n", "Error: Cannot find module '@scope/sdk'"},
		{"node:internal/errors:496\n    ErrorCaptureStackTrace(err);\n    ^\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'\n" + trace + "  code: 'ERR_MODULE_NOT_FOUND'\n}\n\nNode.js v20.11.0", "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'"},
		{"TypeError: x is not a function\n" + trace, "TypeError: x is not a function"},
		{"\x1b[31mTypeError: x is not a function\x1b[0m\r\n" + trace, "\x1b[31mTypeError: x is not a function\x1b[0m"},
		{"warming up\nError: one\n" + trace + "Error: two\n" + trace, "Error: one"},
		{"Uncaught SyntaxError: Unexpected token\n" + trace, "Uncaught SyntaxError: Unexpected token"},
		{"[cli] Fatal Error: no key is set\n" + trace, "[cli] Fatal Error: no key is set"},
		{"error: unknown option '--acp'\n\nUsage: x\n  -a\n  -b\n  -c\n", "error: unknown option '--acp'"},
		{"ERROR: it is broken\na\nb\nc\nd", "ERROR: it is broken"},
		{"panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1\nexit status 2\n", "panic: runtime error: index out of range"},
		{"fatal error: all goroutines are asleep\n\ngoroutine 1:\nmain.main()\n\t/x.go:1\n", "fatal error: all goroutines are asleep"},
		{"thread 'main' panicked at src/main.rs:1:1:\nboom\na\nb\nc\n", "thread 'main' panicked at src/main.rs:1:1:"},
		{"Exception in thread \"main\" java.lang.NullPointerException: it is null\n\tat a\n\tat b\n\tat c\n\tat d\n", "Exception in thread \"main\" java.lang.NullPointerException: it is null"},
		{"Unhandled exception. System.IO.FileNotFoundException: no\n   at A\n   at B\n   at C\n", "Unhandled exception. System.IO.FileNotFoundException: no"},
		{strings.Repeat("x", longLine) + "new Error: no line of a human's\nError: that is it\n" + trace, "Error: that is it"},
		// If the end holds the error, or no line does, only the end is returned.
		{"Traceback (most recent call last):\n  File \"x\", line 1\n    import y\nModuleNotFoundError: No module named 'y'\n", ""},
		{"one\ntwo\nthree\nfour\n", ""},
		{"(node:1) ExperimentalWarning: x is experimental\na\nb\nc\nd\n", ""},
		{"Error: no key", ""},
		{"", ""},
	} {
		var all []string
		for line := range strings.Lines(c.text) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
		want := all[max(0, len(all)-3):]
		if c.first != "" {
			want = append([]string{c.first}, want...)
		}
		if got := LastLines(c.text, 3); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%.200q:\n%q, want\n%q", c.text, got, want)
		}
	}
}
