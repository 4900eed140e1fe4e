package tools

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"fantail/tools/files"
)

func TestRead(t *testing.T) {
	e := place(t)
	var long strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	wide := strings.Repeat("ä", 3000)
	for name, s := range map[string]string{
		"plain": "a\nb\n\nc", "empty": "", "crlf": "a\r\nb\r\n", "bom": "\xef\xbb\xbfa\n", "latin": "caf\xe9\n", "long": long.String(), "wide": "x\n" + wide + "\ny\n", "newline": "\n",
		"binary": "abc\x00def", "png": "\x89PNG\r\n\x1a\n\x00\x00", "utf16": "\xff\xfea\x00", "wide2": strings.Repeat(strings.Repeat("z", 1900)+"\n", 200),
	} {
		put(t, e.Root+"/"+name, s)
	}
	for _, c := range []struct {
		kv   []any
		want string
	}{
		{[]any{"path", "plain"}, "1\ta\n2\tb\n3\t\n4\tc\n"},
		{[]any{"path", "plain", "offset", 2, "limit", 2}, "2\tb\n3\t\n[lines 2 to 3; the file goes on: read on with offset 4]\n"},
		{[]any{"path", "plain", "offset", 4, "limit", 1}, "4\tc\n"},
		{[]any{"path", "plain", "offset", 0, "limit", 1}, "1\ta\n[lines 1 to 1; the file goes on: read on with offset 2]\n"},
		{[]any{"path", "empty"}, "[the file is empty]"},
		{[]any{"path", "newline"}, "1\t\n"},
		{[]any{"path", "crlf"}, "1\ta\n2\tb\n[lines end in CRLF]\n"},
		{[]any{"path", "bom"}, "1\ta\n"},
		{[]any{"path", "latin"}, "1\tcaf\uFFFD\n[bytes that are not UTF-8 show as \uFFFD; edit_file keeps them]\n"},
		{[]any{"path", "wide"}, "1\tx\n2\t" + strings.Repeat("ä", 1000) + " [… 4000 more bytes]\n3\ty\n[long lines are cut after 2000 bytes]\n"},
		{[]any{"path", "binary"}, "binary is a binary file (application/octet-stream), 7 bytes; it is not shown as text"},
		{[]any{"path", "png"}, "png is a binary file (image/png), 10 bytes; it is not shown as text"},
		{[]any{"path", "utf16"}, "utf16 is UTF-16 text (convert it with iconv), 4 bytes; it is not shown as text"},
	} {
		if r := ok(t, e, "read_file", c.kv...); r.Text != c.want {
			t.Errorf("%v gave %q, want %q", c.kv, r.Text, c.want)
		}
	}
	r := ok(t, e, "read_file", "path", "long")
	if !strings.HasPrefix(r.Text, "1\tline 1\n") || !strings.HasSuffix(r.Text, "2000\tline 2000\n[lines 1 to 2000; the file goes on: read on with offset 2001]\n") {
		t.Errorf("the default limit gave …%q", r.Text[len(r.Text)-100:])
	}
	r = ok(t, e, "read_file", "path", "wide2")
	if len(r.Text) > files.MaxPage+4096 || !strings.Contains(r.Text, "read on with offset 5") {
		t.Errorf("a wide file gave %d bytes, ending in %q", len(r.Text), r.Text[len(r.Text)-100:])
	}
	for _, c := range []struct {
		kv   []any
		says string
	}{
		{[]any{"path", "plain", "offset", 9}, "the file has 4 lines"},
		{[]any{"path", "empty", "offset", 2}, "the file has 0 lines"},
		{[]any{"path", "nothing"}, "does not exist"},
		{[]any{"path", "plain.txt"}, "there is plain"},
		{[]any{"path", "no/such"}, "the directory no does not exist"},
		{[]any{"path", "~/x"}, "use the absolute path " + e.home() + "/x"},
	} {
		if got := refuses(t, e, "read_file", c.kv...); !strings.Contains(got, c.says) {
			t.Errorf("%v: %q, want %q in it", c.kv, got, c.says)
		}
	}
}

// Reading in a huge file needs little memory: the lines before and after are not kept.
func TestRead_hugeFiles(t *testing.T) {
	e := place(t)
	f, err := os.Create(e.Root + "/huge")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	row := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
	for range 64 {
		if _, err := f.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	put(t, e.Root+"/one", "start")
	if err := os.Truncate(e.Root+"/one", 1<<40); err != nil {
		t.Log("no sparse files:", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := ok(t, e, "read_file", "path", "huge", "offset", 64<<16, "limit", 5)
	runtime.ReadMemStats(&after)
	if want := fmt.Sprintf("%d\t0123456789abcde\n", 64<<16); r.Text != want {
		t.Errorf("the last line is %q, want %q", r.Text, want)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20+16<<20 {
		t.Errorf("reading allocated %d bytes in all", n)
	}
	if r := ok(t, e, "read_file", "path", "one"); !strings.Contains(r.Text, "binary") {
		t.Errorf("the sparse file is %.100q", r.Text)
	}
	if says := refuses(t, e, "edit_file", "path", "huge", "edits", []map[string]string{{"old": "x", "new": "y"}}); !strings.Contains(says, "at most") {
		t.Errorf("editing a huge file: %s", says)
	}
}

// TestWrite_form: a file that is replaced or changed keeps its byte order mark, line ends and encoding.
func TestWrite_form(t *testing.T) {
	const bom = "\ufeff"
	const refused = "UTF-16"
	for _, c := range []struct{ before, content, after, says string }{
		{bom + "one\r\ntwo\r\n", "three\nfour\n", bom + "three\r\nfour\r\n", "keeps its byte order mark and its line ends (CRLF)"},
		{bom + "one\n", "two\n", bom + "two\n", "keeps its byte order mark"},
		{bom + "one", "two", bom + "two", "keeps its byte order mark"},
		{bom + "one\n", bom + "two\n", bom + "two\n", ""},
		{bom, "x", bom + "x", "mark"},
		{bom + "one\n", "", bom, "mark"},
		{"one\r\ntwo", "three\nfour", "three\r\nfour", "keeps its line ends (CRLF)"},
		{"one\r\n", "two\r\nthree\r\n", "two\r\nthree\r\n", ""},
		{"one\r\n", "two\r\nthree\n", "two\r\nthree\r\n", "line ends"},
		{"one\r\n", "two", "two", ""},
		{"one\r\n", "a\n\nb\n", "a\r\n\r\nb\r\n", "line ends"},
		{"one\r\ntwo\n", "three\n", "three\n", ""},
		{"one\r\ntwo\n", "three\r\nfour\n", "three\r\nfour\n", ""},
		{"one\n", "two\r\n", "two\r\n", ""},
		{"one\n", bom + "two\n", bom + "two\n", ""},
		{"one", "two\n", "two\n", ""},
		{"", "two\r\n", "two\r\n", ""},
		{"one\rtwo\r", "three\n", "three\n", ""},
		{"a\x00b\n", "text\n", "text\n", ""},
		{"\xff\xfeo\x00n\x00e\x00\n\x00", "two\n", "", refused},
		{"\xfe\xff\x00o\x00n\x00e", "two\n", "", refused},
		{"o\x00n\x00e\x00\n\x00", "two\n", "", refused},
		{"\x00o\x00n\x00e", "two", "", refused},
		{"\xff\xfe", "x", "", refused},
	} {
		e := place(t)
		put(t, e.Root+"/f", c.before)
		ok(t, e, "read_file", "path", "f")
		if !e.Seen.Has(e.Root + "/f") { // a file that is not shown as text was not seen either
			fi, err := os.Lstat(e.Root + "/f")
			if err != nil {
				t.Fatal(err)
			}
			e.Seen.Put(e.Root+"/f", fi, []byte(c.before))
		}
		if c.says == refused {
			if says := refuses(t, e, "write_file", "path", "f", "content", c.content); !strings.Contains(says, refused) || text(t, e.Root+"/f") != c.before {
				t.Errorf("%q: %s; it is %q", c.before, says, text(t, e.Root+"/f"))
			}
			if says := refuses(t, e, "edit_file", "path", "f", "edits", []map[string]string{{"old": "n", "new": "m"}}); !strings.Contains(says, refused) && !strings.Contains(says, "does not stand") {
				t.Errorf("%q is edited: %s", c.before, says)
			}
			continue
		}
		r := ok(t, e, "write_file", "path", "f", "content", c.content)
		if got := text(t, e.Root+"/f"); got != c.after || !strings.Contains(r.Text, c.says) || strings.Contains(r.Text, "keeps") != (c.says != "") {
			t.Errorf("%q written over %q is %q: %s", c.content, c.before, got, r.Text)
		}
		if r := ok(t, e, "write_file", "path", "f", "content", c.content); text(t, e.Root+"/f") != c.after {
			t.Errorf("a second time: %q %s", text(t, e.Root+"/f"), r.Text)
		}
		ok(t, e, "write_file", "path", "new", "content", c.content)
		if got := text(t, e.Root+"/new"); got != c.content {
			t.Errorf("a new file: %q written is %q", c.content, got)
		}
	}
	for _, c := range []struct{ before, old, new, after string }{
		{"a\r\nb\nc\n", "a\nb", "x\ny", "x\r\ny\nc\n"},
		{"a\r\nb\nc\nd\n", "b\nc", "x\ny", "a\r\nx\ny\nd\n"},
		{"a\r\nb\r\nc\n", "a\r\nb", "x", "x\r\nc\n"},
		{bom + "a\r\nb\r\n", "a\nb", "x\ny\nz", bom + "x\r\ny\r\nz\r\n"},
		{"a\nb\n", "a\nb", "x\r\ny", "x\r\ny\n"},
		{bom + "a\n", "a", "b", bom + "b\n"},
	} {
		e := place(t)
		put(t, e.Root+"/f", c.before)
		ok(t, e, "read_file", "path", "f")
		ok(t, e, "edit_file", "path", "f", "edits", []map[string]string{{"old": c.old, "new": c.new}})
		if got := text(t, e.Root+"/f"); got != c.after {
			t.Errorf("%q for %q in %q is %q, want %q", c.new, c.old, c.before, got, c.after)
		}
	}
}

func TestWrite(t *testing.T) {
	e := place(t)
	r := ok(t, e, "write_file", "path", "a/b/new.txt", "content", "one\r\ntwo\n")
	if text(t, e.Root+"/a/b/new.txt") != "one\r\ntwo\n" || !strings.Contains(r.Text, "created a/b/new.txt, 9 bytes") || !strings.Contains(r.Diff, "+two") {
		t.Errorf("got %+v", r)
	}
	// The agent has seen a file that it wrote itself.
	r = ok(t, e, "write_file", "path", "a/b/new.txt", "content", "three\n")
	if text(t, e.Root+"/a/b/new.txt") != "three\n" || !strings.Contains(r.Text, "replaced") || !strings.Contains(r.Diff, "-two") {
		t.Errorf("got %+v", r)
	}
	put(t, e.Root+"/old.txt", "old\n")
	if says := refuses(t, e, "write_file", "path", "old.txt", "content", "x"); !strings.Contains(says, "read it with read_file before") {
		t.Errorf("an unread file: %s", says)
	}
	ok(t, e, "read_file", "path", "old.txt")
	put(t, e.Root+"/old.txt", "new\n")
	if says := refuses(t, e, "write_file", "path", "old.txt", "content", "x"); !strings.Contains(says, "changed since it was read") {
		t.Errorf("a changed file: %s", says)
	}
	ok(t, e, "read_file", "path", "old.txt")
	c := parse(t, e, "write_file", "path", "old.txt", "content", "x")
	put(t, e.Root+"/old.txt", "alt\n")
	if r := c.Run(t.Context()); !r.Error || !strings.Contains(r.Text, "changed since it was shown") || text(t, e.Root+"/old.txt") != "alt\n" {
		t.Errorf("changed after it was shown: %+v", r)
	}
	c = parse(t, e, "write_file", "path", "fresh.txt", "content", "x")
	put(t, e.Root+"/fresh.txt", "other\n")
	if r := c.Run(t.Context()); !r.Error || text(t, e.Root+"/fresh.txt") != "other\n" {
		t.Errorf("made after it was shown: %+v", r)
	}
	for p, says := range map[string]string{"a": "directory", "old.txt/x": "not a directory", ".git/config": "git's own", "../data/x": "Fantail's own", "~/x": "absolute path"} {
		if got := refuses(t, e, "write_file", "path", p, "content", "x"); !strings.Contains(got, says) {
			t.Errorf("write %s: %s", p, got)
		}
	}
	left(t, e)
}

// left fails if a temporary file was left.
func left(t *testing.T, e *Runtime) {
	t.Helper()
	if r := ok(t, e, "glob", "pattern", "**/.fantail-*"); !strings.Contains(r.Text, "no file") {
		t.Errorf("left: %s", r.Text)
	}
}

func TestWrite_keepsWhatAFileHas(t *testing.T) {
	e := place(t)
	put(t, e.Root+"/script", "#!/bin/sh\n")
	if err := os.Chmod(e.Root+"/script", 0o4750); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(e.Root+"/script", os.ModeSetuid|0o750); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(e.Root+"/script", 1234, 2345); err != nil {
			t.Fatal(err)
		}
		_ = os.Chmod(e.Root+"/script", os.ModeSetuid|0o750)
	}
	attributes := setAttribute(e.Root+"/script", "user.note", "kept")
	link(t, "script", e.Root+"/alias")
	ok(t, e, "read_file", "path", "alias")
	ok(t, e, "write_file", "path", "alias", "content", "#!/bin/bash\n")
	fi, err := os.Lstat(e.Root + "/script")
	if err != nil || fi.Mode() != os.ModeSetuid|0o750 || text(t, e.Root+"/script") != "#!/bin/bash\n" {
		t.Errorf("the file is %v, %v", fi.Mode(), err)
	}
	if s := fi.Sys().(*syscall.Stat_t); os.Getuid() == 0 && (s.Uid != 1234 || s.Gid != 2345) {
		t.Errorf("the owner is %d:%d", s.Uid, s.Gid)
	}
	if got := getAttribute(e.Root+"/script", "user.note"); attributes && got != "kept" {
		t.Errorf("the attribute is %q", got)
	}
	if fi, _ := os.Lstat(e.Root + "/alias"); fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	// A hard link elsewhere keeps the old content.
	put(t, top(e)+"/else/hard", "theirs\n")
	if err := os.Link(top(e)+"/else/hard", e.Root+"/hard"); err != nil {
		t.Fatal(err)
	}
	ok(t, e, "read_file", "path", "hard")
	ok(t, e, "write_file", "path", "hard", "content", "mine\n")
	if text(t, top(e)+"/else/hard") != "theirs\n" || text(t, e.Root+"/hard") != "mine\n" {
		t.Error("a write went through a hard link")
	}
	put(t, e.Root+"/fixed", "x\n")
	if err := os.Chmod(e.Root+"/fixed", 0o444); err != nil {
		t.Fatal(err)
	}
	if says := refuses(t, e, "edit_file", "path", "fixed", "edits", []map[string]string{{"old": "x", "new": "y"}}); !strings.Contains(says, "read-only") {
		t.Errorf("a read-only file: %s", says)
	}
	left(t, e)
}

func TestEdit(t *testing.T) {
	type ed = map[string]any
	for _, c := range []struct {
		name, before, after string
		edits               []ed
	}{
		{"one", "a\nb\nc\n", "a\nB\nc\n", []ed{{"old": "b", "new": "B"}}},
		{"several, in order", "a\nb\nc\n", "1\nX\nc\n", []ed{{"old": "a\n", "new": "1\n"}, {"old": "1\nb", "new": "1\nX"}}},
		{"all", "a a a\n", "b b b\n", []ed{{"old": "a", "new": "b", "replace_all": true}}},
		{"delete", "a\nb\n", "a\n", []ed{{"old": "b\n", "new": ""}}},
		{"no newline at the end", "a\nb", "a\nc", []ed{{"old": "b", "new": "c"}}},
		{"CRLF", "a\r\nb\r\nc\r\n", "a\r\nx\r\ny\r\nc\r\n", []ed{{"old": "b\n", "new": "x\ny\n"}}},
		{"CRLF given", "a\r\nb\r\n", "x\r\nb\r\n", []ed{{"old": "a\r\n", "new": "x\r\n"}}},
		{"mixed line ends", "a\r\nb\nc\n", "a\r\nX\nc\n", []ed{{"old": "b\n", "new": "X\n"}}},
		{"byte order mark", "\xef\xbb\xbfa\nb\n", "\xef\xbb\xbfx\nb\n", []ed{{"old": "a", "new": "x"}}},
		{"latin-1", "caf\xe9 a\n", "caf\xe9 b\n", []ed{{"old": " a", "new": " b"}}},
		{"dollar signs", "a\n", "$1 ${x} \\1\n", []ed{{"old": "a", "new": "$1 ${x} \\1"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := place(t)
			put(t, e.Root+"/f", c.before)
			r := ok(t, e, "edit_file", "path", "f", "edits", c.edits)
			if got := text(t, e.Root+"/f"); got != c.after {
				t.Errorf("the file is %q, want %q", got, c.after)
			}
			if r.Diff == "" || !strings.HasPrefix(r.Text, "edited f (") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestEdit_refusals(t *testing.T) {
	type ed = map[string]any
	const before = "func a() {\n\treturn 1\n}\nfunc b() {\n\treturn 1\n}\n"
	for _, c := range []struct {
		name  string
		edits []ed
		says  string
	}{
		{"twice", []ed{{"old": "return 1", "new": "x"}}, "stands 2 times in f, at lines 2, 5: add lines around it"},
		{"missing", []ed{{"old": "return 7", "new": "x"}}, "does not stand in f; read the file"},
		{"white space", []ed{{"old": "func a() {\n    return 1\n}", "new": "x"}}, "at line 1 it does but for white space"},
		{"first line only", []ed{{"old": "func b() {\n\treturn 9\n}", "new": "x"}}, "its first line stands at line 4"},
		{"the second of two", []ed{{"old": "func a", "new": "func c"}, {"old": "func a", "new": "x"}}, "old (edit 2) does not stand"},
		{"line numbers", []ed{{"old": "1\tfunc a() {", "new": "x"}}, "without the line numbers"},
	} {
		e := place(t)
		put(t, e.Root+"/f", before)
		if says := refuses(t, e, "edit_file", "path", "f", "edits", c.edits); !strings.Contains(says, c.says) {
			t.Errorf("%s: %q, want %q in it", c.name, says, c.says)
		}
		if text(t, e.Root+"/f") != before {
			t.Errorf("%s: the file changed", c.name)
		}
	}
	e := place(t)
	one := []ed{{"old": "a", "new": "b"}}
	if says := refuses(t, e, "edit_file", "path", "none", "edits", one); !strings.Contains(says, "to create it use write_file") {
		t.Errorf("a missing file: %s", says)
	}
	put(t, e.Root+"/f", "a\n")
	ok(t, e, "read_file", "path", "f")
	put(t, e.Root+"/f", "a!\n")
	if says := refuses(t, e, "edit_file", "path", "f", "edits", one); !strings.Contains(says, "changed since it was read") {
		t.Errorf("a changed file: %s", says)
	}
	ok(t, e, "read_file", "path", "f")
	c := parse(t, e, "edit_file", "path", "f", "edits", one)
	put(t, e.Root+"/f", "a?\n")
	if r := c.Run(t.Context()); !r.Error || !strings.Contains(r.Text, "changed since it was shown") || text(t, e.Root+"/f") != "a?\n" {
		t.Errorf("changed after it was shown: %+v", r)
	}
	// A file that only has new times is unchanged.
	put(t, e.Root+"/g", "a\n")
	ok(t, e, "read_file", "path", "g")
	put(t, e.Root+"/g", "a\n")
	ok(t, e, "edit_file", "path", "g", "edits", one)
	ok(t, e, "edit_file", "path", "g", "edits", []ed{{"old": "b", "new": "c"}})
	left(t, e)
}

// Outside of the workspace a file is read only after the human allowed the edit.
func TestEdit_outside(t *testing.T) {
	e := place(t)
	c := parse(t, e, "edit_file", "path", "../else/other.txt", "edits", []map[string]string{{"old": "other", "new": "new"}})
	if r := c.Run(t.Context()); r.Error || text(t, top(e)+"/else/other.txt") != "new\n" {
		t.Errorf("got %+v", r)
	}
	c = parse(t, e, "edit_file", "path", "../else/none.txt", "edits", []map[string]string{{"old": "other", "new": "new"}})
	if r := c.Run(t.Context()); !r.Error {
		t.Errorf("got %+v", r)
	}
	r := ok(t, e, "write_file", "path", "../else/a/b.txt", "content", "x\n")
	if text(t, top(e)+"/else/a/b.txt") != "x\n" || !strings.Contains(r.Text, top(e)) {
		t.Errorf("got %+v", r)
	}
}
