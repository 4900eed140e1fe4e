package front_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"fantail/tools/front"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want, body string }{
		{"none", "# Title\n---\nname: x\n---\n", "", "# Title\n---\nname: x\n---\n"},
		{"empty", "---\n---\nbody\n", "", "body\n"},
		{"words", "---\nname: review\ndescription: Looks at it\n---\n\nbody", "name=review@2 description=Looks at it@3", "\nbody"},
		{"a list", "---\ntools:\n  - Read\n  - Bash(git *)\n---\n", "tools=[Read|Bash(git *)]@2", ""},
		{"a flow list", "---\ntools: [Read, \"Bash(git log:*)\"]\n---\n", "tools=[Read|Bash(git log:*)]@2", ""},
		{"folded", "---\ndescription: >\n  one\n  two\nmodel: opus\n---\nx", "description=one two\n@2 model=opus@5", "x"},
		{"true and numbers", "---\nbackground: true\nmaxTurns: 5\ncolor:\n---\n", "background=true@2 maxTurns=5@3 color=@4", ""},
		{"windows", "\xef\xbb\xbf---\r\nname: a\r\n---\r\nb\r\n", "name=a@2", "b\n"},
		{"a hint in brackets", "---\nargument-hint: [file] [line]\nname: x\n---\n", "argument-hint=[file] [line]@2 name=x@3", ""},
		{"a colon in words", "---\ndescription: Use this: it helps\ntools:\n- Read\n---\n", "description=Use this: it helps@2 tools=[Read]@3", ""},
		{"nested", "---\nmetadata:\n  a: b\nname: x\n---\n", "metadata=@2 name=x@4", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := front.Read([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range m.Fields {
				v := f.Text
				if f.List != nil {
					v = "[" + strings.Join(f.List, "|") + "]"
				}
				got = append(got, fmt.Sprintf("%s=%s@%d", f.Key, v, f.Line))
			}
			if g := strings.Join(got, " "); g != c.want || m.Body != c.body {
				t.Errorf("fields %q body %q", g, m.Body)
			}
		})
	}
}

// TestRead_wrong: what can't be read names its place, and the words after it stand.
func TestRead_wrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"---\nname: x\n", "1:1: its front matter has no end"},
		{"---\nname: [a\nb\n---\nbody", "3:1: its front matter is no YAML"},
		{"---\n- a\n---\nbody", "2:1: its front matter can't be read: here belong lines of the form key: value"},
		{"---\n" + strings.Repeat("[", 300) + "\n---\nbody", "at most 256"},
		{"---\nx: " + strings.Repeat("y", 40<<10) + "\n---\nbody", "at most 32768"},
	} {
		m, err := front.Read([]byte(c.text))
		if f := (*front.Fault)(nil); !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
		if m.Body == "" {
			t.Errorf("%.40q: the body is gone", c.text)
		}
	}
}

// TestRead_bomb: what names itself many times is not made large.
func TestRead_bomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\na0: &a0 [x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	b.WriteString("---\n")
	m, _ := front.Read([]byte(b.String()))
	for _, f := range m.Fields {
		if len(f.List) > 2 {
			t.Errorf("%s has %d values", f.Key, len(f.List))
		}
	}
}

func TestWords(t *testing.T) {
	f := &front.Field{Text: "Read, Bash(git log, git diff), src/**/*.{ts,tsx}"}
	if g := strings.Join(f.Words(), "|"); g != "Read|Bash(git log, git diff)|src/**/*.{ts,tsx}" {
		t.Error(g)
	}
	if (*front.Field)(nil).Words() != nil {
		t.Error("no field has words")
	}
}

func TestRaw(t *testing.T) {
	m, err := front.Read([]byte("---\nname: x\nmessage_handling:\n  default: queue\n  idle_after: 5s\nmodel: y\n---\n"))
	if g := m.Get("message_handling").Raw; err != nil || g != "message_handling:\n  default: queue\n  idle_after: 5s\n" {
		t.Errorf("%q %v", g, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("---\nname: x\nlist:\n  - a\n---\nbody"))
	f.Add([]byte("---\na: &a [*a]\n---\n"))
	f.Add([]byte("---\nx: |\n  y\n---"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _ := front.Read(text)
		for i := range m.Fields {
			m.Fields[i].Words()
		}
	})
}

func FuzzSimple(f *testing.F) {
	for _, s := range []string{"a: x", "a:\n  - \"x\"\nb: 'y'", "a:\n- 1\n- y z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, '\r') {
			return
		}
		got, ok := front.Simple(strings.Split(text, "\n"))
		if want, err := front.Strict(text + "\n"); ok && (err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want)) {
			t.Errorf("%q: %+v, the parser reads %+v, %v", text, got, want, err)
		}
	})
}

// TestSimple: what is read without the parser is read as the parser reads it.
func TestSimple(t *testing.T) {
	fast := 0
	for _, text := range []string{
		"name: x", "name: x y  z ", "name:   x", "a: 1\nb: true\nc: 1.5\nd: 0x1F\ne: 2026-11-25\nf: 1_000\ng: 010\nh: 1e3", "a:\nb: x", "a: yes\nb: No", "a: x [y] {z} *w &v !u | > % @ ` ' \"",
		"a: x, y", "a: Null", "a: x\na: y", "a: x\n\nb: y", "a: x\n b: y", "a: x # y", "a: x#y", "a: x:y", "a: x - y", "a: Bash(git log)", "a: 1:30", "a: x\\y", "a: ünï", "a-b_c: d", "a: x?", "true: x", "null: x", "1: x",
		"a: \"x: y # z\"", "a: 'x\\y'", "a: \"x\\ny\"", "a: 'it''s'", "a: \"\"", "a: \"x\" # y", "a: \"x\" y", "a: '1'", "a: \"null\"", "a: \"",
		"a:\n  - x\n  - \"**/*.ts\"\n  - 'y, z'\nb: c", "a:\n- x\n- 1\n- true\nb:\n  - y", "a:\n  - x\n   - y", "a:\n  - x\n    - y", "a:\n  - null", "a:\n  -\n  - x",
		"a:\n  - x: y", "a:\n  - [x]", "a:\n  - *x", "a:\n  - x # y", "a:\n  - x\n\nb: y", "a:\n  - x\n\n  - y", "a: x\n  - y", "a:\n  - - x", "a:\n  - x\n  y", "- x", "a:\n  - \"\"",
	} {
		head := strings.Split(text, "\n")
		got, ok := front.Simple(head)
		if !ok {
			continue
		}
		fast++
		want, err := front.Strict(text + "\n")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, the parser reads %+v, %v", text, got, want, err)
		}
	}
	if fast < 20 {
		t.Errorf("only %d are read without the parser", fast)
	}
}
