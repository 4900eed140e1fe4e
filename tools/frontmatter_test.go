package tools_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"fantail/tools"
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
		{"nested", "---\nmetadata:\n  a: b\nname: x\n---\n", "metadata=a: b@2 name=x@4", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := tools.ReadFrontMatter([]byte(c.text))
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

// TestRead_odd: text that people, models and other tools write in place of YAML is read as they mean it, and of other
// lines only the line itself is lost.
func TestRead_odd(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		// a value over several lines with a colon in it
		{"description: Use when: x\n\n  <example>\n  user: \"y\"\n  </example>\nmodel: opus", "description=Use when: x\n<example> user: \"y\" </example> model=opus"},
		{"description: one,\n  two: three\nmodel: opus", "description=one, two: three model=opus"},
		{"description: one,\n\ttwo: three\nmodel: opus", "description=one, two: three model=opus"},
		{"description: one: a\n  # no word\n  two", "description=one: a two"},
		{"description: one: a\n  #1 of two", "description=one: a #1 of two"},
		{"description: one: a\n- two: b\n- three\nmodel: opus", "description=one: a - two: b - three model=opus"},
		{"description: one: a\n# between\n  two\nmodel: opus", "description=one: a two model=opus"},
		{"description:\n  Use this: it helps\nmodel: opus", "description=Use this: it helps model=opus"},
		{"description:\n\n  Use this: it helps\n  and: that\nmodel: opus", "description=Use this: it helps and: that model=opus"},
		{"description:\n  # note\n  one: two: three\nmodel: opus", "description=one: two: three model=opus"},
		{"description: \"one: a\n  two\"\nmodel: opus", "description=one: a two model=opus"},
		{"description: \"one \"two\": a\n  b\"\nmodel: opus", "description=one \"two\": a b model=opus"},
		{"description: 'it's: a'\nmodel: opus", "description=it's: a model=opus"},
		{"description: 'one\n\n  two'\nx: a: b", "description=one\ntwo x=a: b"},
		{"description: a\\nb: c\nmodel: opus", "description=a\\nb: c model=opus"},
		// blocks
		{"description: >\n  one: a\n  two\n\n  three\nx: a: b", "description=one: a two\nthree x=a: b"},
		{"description: >-\n  one: a\n  two\nx: a: b", "description=one: a two x=a: b"},
		{"description: |\n  one: a\n    two\nx: a: b", "description=one: a\n  two x=a: b"},
		{"description: |+\n  one\n\n\nx: a: b", "description=one x=a: b"},
		{"description: |-\n\tone: a\n\ttwo\nmodel: opus", "description=one: a\ntwo model=opus"},
		{"description: >\n\tone: a\n\ttwo\nmodel: opus", "description=one: a two model=opus"},
		{"description: > one: a\n  two\nmodel: opus", "description=one: a two model=opus"},
		{"description: | # words\n\tone\n\ttwo\nmodel: opus", "description=one\ntwo model=opus"},
		{"description:\n\n  >\n  one: a\nmodel: a: b", "description=one: a model=a: b"},
		{"# of Tom\n\ndescription: |2\n  one\nmodel: a: b", "description=one model=a: b"},
		{"description: |\n  # title\n\ttext\nmodel: opus", "description=# title\ntext model=opus"},
		{"description: |\nmodel: a: b", "description= model=a: b"},
		// tabs
		{"metadata:\n\tversion: 1\nname: x", "metadata=version: 1 name=x"},
		{"name:\tx\ntools:\n\t- Read\n\t- Grep", "name=x tools=[Read|Grep]"},
		{"\tname: x\ndescription: y", "description=y LEFT 2"},
		// lists
		{"tools: [Read, Grep\nmodel: opus", "tools=[Read|Grep] model=opus"},
		{"tools: [\n  Read,\n  Grep\n]\nmodel: a: b", "tools=[Read|Grep] model=a: b"},
		{"paths: [**/*.ts, \"@x/y\"]\nname: x", "paths=[**/*.ts|@x/y] name=x"},
		{"tools: []\nmodel: a: b", "tools=[] model=a: b"},
		{"tools:\n  - Read\n- Grep\n   - Bash(a: b)\nmodel: opus", "tools=[Read|Grep|Bash(a: b)] model=opus"},
		{"tools:\n\n  - Read\n\n  # and\n  - Grep\nmodel: a: b", "tools=[Read|Grep] model=a: b"},
		{"tools:\n  - Read\n    more\n  -\nmodel: a: b", "tools=[Read more|] model=a: b"},
		{"tools:\n  - a: b\n  - Grep", "tools=[a: b|Grep]"},
		{"tools: Read\n  - Grep", "tools=Read - Grep"},
		{"argument-hint: [file] [line]\nname: x", "argument-hint=[file] [line] name=x"},
		{"argument-hint: <a> | [b]: c\nname: x", "argument-hint=<a> | [b]: c name=x"},
		// no value, and duplicates
		{"name: ~\nx: null\ny: \"\"\nz: 0\nmodel: a: b", "name= x= y= z=0 model=a: b"},
		{"name: {}\nmodel: {a: b}\ntools: [[]]", "name={} model={a: b} tools=[[]]"},
		{"name: &a x\nmodel: *a", "name=&a x model=*a"},
		{"name: a\nname: b", "name=a name=b"},
		{"name: !!str x\nmodel: y", "name=!!str x model=y"},
		// marks and keys
		{"name: \u201cx\u201d\ntools: \u2018Read, Grep\u2019", "name=x tools=Read, Grep"},
		{"tools:\n  - \u201cRead\u201d", "tools=[Read]"},
		{"name:x\ndescription: y", "name=x description=y"},
		{"description: y\nname:x", "description=y name=x"},
		{"name:x", "name=x"},
		{"name : x\ny: a: b", "name=x y=a: b"},
		{"\"name\": x\ny: a: b", "name=x y=a: b"},
		{"name: \"x\ny: z", "name=\"x y=z"},
		{"name: @x\ny: `z`", "name=@x y=`z`"},
		{"name: %x\ny: *.go", "name=%x y=*.go"},
		{"a: x # no word\nb: y: z", "a=x b=y: z"},
		// lines without meaning
		{"name: x\nwhat is this\nmodel: opus", "name=x model=opus LEFT 3"},
		{"name: x\nhttps://a.b/c\nmodel: opus", "name=x model=opus LEFT 3"},
		{"name: [a\nb", "name=[a] LEFT 3"},
		{"<example>\n  a: b\n</example>\nmodel: opus", "model=opus LEFT 2"},
		{"- a", " LEFT 2"},
		{"what", " LEFT 2"},
		{"%YAML 1.2\nname: x", "name=x LEFT 2"},
		{"name: x\n\x00\nmodel: opus", "name=x model=opus LEFT 3"},
		{"name: x\nA: {{a}}\nmodel: {b", "name=x A={{a}} model={b"},
		{strings.Repeat("[", 300) + "\nname: x", "name=x LEFT 2"},
		{"description: " + strings.Repeat("{[", 300) + "\nname: x", "description=" + strings.Repeat("{[", 300) + " name=x"},
	} {
		for _, form := range []string{"---\n%s\n---\nbody", "\xef\xbb\xbf---\r\n%s\r\n...\r\nbody"} {
			head := c.head
			if strings.Contains(form, "\r") {
				head = strings.ReplaceAll(head, "\n", "\r\n")
			}
			m, err := tools.ReadFrontMatter(fmt.Appendf(nil, form, head))
			if g := shown(&m); g != c.want || err != nil || m.Body != "body" {
				t.Errorf("%q: %q, want %q; body %q, %v", c.head, g, c.want, m.Body, err)
			}
		}
	}
}

// shown prints the fields of a matter, and the line that was left out.
func shown(m *tools.FrontMatter) string {
	var all []string
	for _, f := range m.Fields {
		v := strings.TrimSpace(f.Text)
		if f.List != nil {
			v = "[" + strings.Join(f.List, "|") + "]"
		}
		all = append(all, f.Key+"="+v)
	}
	s := strings.Join(all, " ")
	if m.Left != nil {
		s += fmt.Sprintf(" LEFT %d", m.Left.Line)
	}
	return s
}

// TestRead_endless: matter without an end ends before the first line that is not part of it.
func TestRead_endless(t *testing.T) {
	for _, c := range []struct{ text, want, body string }{
		{"---\nname: x\n", "name=x LEFT 1", ""},
		{"---\nname: x\ntools:\n  - Read\n\n# Title\nNote: text\n", "name=x tools=[Read] LEFT 1", "\n# Title\nNote: text\n"},
		{"---\nname: x\n# Title\ntext", "name=x LEFT 1", "# Title\ntext"},
		{"---\nname: x\ntext and more\n", "name=x LEFT 1", "text and more\n"},
		{"---\ndescription: a: b\n  c\ntext", "description=a: b c LEFT 1", "text"},
		{"---\n# Title\nNote: text\n", "", "---\n# Title\nNote: text\n"},
		{"---\n\nname: x\n", "", "---\n\nname: x\n"},
		{"---\n  name: x\n", "", "---\n  name: x\n"},
		{"---\ntext", "", "---\ntext"},
		{"---\n", "", "---\n"},
		{"---", "", "---"},
	} {
		m, err := tools.ReadFrontMatter([]byte(c.text))
		if g := shown(&m); g != c.want || m.Body != c.body || err != nil {
			t.Errorf("%q: %q, body %q, %v", c.text, g, m.Body, err)
		}
		if at := strings.Count(strings.TrimSuffix(c.text, m.Body), "\n") + 1; m.Line != at {
			t.Errorf("%q: the body begins at line %d, want %d", c.text, m.Line, at)
		}
	}
}

// TestRead_large: matter beyond the limit is not read, but the text after it is.
func TestRead_large(t *testing.T) {
	for _, text := range []string{"---\nx: " + strings.Repeat("y", 40<<10) + "\n---\nbody", "---\nx: " + strings.Repeat("y", 40<<10) + "\nbody\n"} {
		m, err := tools.ReadFrontMatter([]byte(text))
		if f := (*tools.FrontFault)(nil); !errors.As(err, &f) || !strings.Contains(err.Error(), "at most 32768") || strings.TrimSpace(m.Body) != "body" || m.Fields != nil {
			t.Errorf("%v, body %q", err, m.Body)
		}
	}
}

// TestRead_bomb: aliases that repeat themselves do not expand.
func TestRead_bomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\na0: &a0 [x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	b.WriteString("---\n")
	m, _ := tools.ReadFrontMatter([]byte(b.String()))
	for _, f := range m.Fields {
		if len(f.List) > 2 {
			t.Errorf("%s has %d values", f.Key, len(f.List))
		}
	}
}

func TestWords(t *testing.T) {
	f := &tools.FrontField{Text: "Read, Bash(git log, git diff), src/**/*.{ts,tsx}"}
	if g := strings.Join(f.Words(), "|"); g != "Read|Bash(git log, git diff)|src/**/*.{ts,tsx}" {
		t.Error(g)
	}
	if (*tools.FrontField)(nil).Words() != nil {
		t.Error("no field has words")
	}
}

func TestRaw(t *testing.T) {
	m, err := tools.ReadFrontMatter([]byte("---\nname: x\nmessage_handling:\n  default: queue\n  idle_after: 5s\nmodel: y\n---\n"))
	if g := m.Get("message_handling").Raw; err != nil || g != "message_handling:\n  default: queue\n  idle_after: 5s\n" {
		t.Errorf("%q %v", g, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("---\nname: x\nlist:\n  - a\n---\nbody"))
	f.Add([]byte("---\na: &a [*a]\n---\n"))
	f.Add([]byte("---\nx: |\n  y\n---"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _ := tools.ReadFrontMatter(text)
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
		got, ok := tools.Simple(strings.Split(text, "\n"))
		if want, err := tools.Strict(text + "\n"); ok && (err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want)) {
			t.Errorf("%q: %+v, the parser reads %+v, %v", text, got, want, err)
		}
	})
}

// TestSimple: simple and the parser read the same.
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
		got, ok := tools.Simple(head)
		if !ok {
			continue
		}
		fast++
		want, err := tools.Strict(text + "\n")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, the parser reads %+v, %v", text, got, want, err)
		}
	}
	if fast < 20 {
		t.Errorf("only %d are read without the parser", fast)
	}
}
