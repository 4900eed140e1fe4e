package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"fantail/.ci/long"
	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

// TestPrintALongReply: in each format a reply takes less than three times its text,
// from the socket to the output (torture L4, L26).
func TestPrintALongReply(t *testing.T) {
	t.Parallel()
	const size = 24 << 20
	small := peak(t, "text", 1<<20) // less would be gone before it is measured
	formats := []string{"text", "json", "stream-json"}
	for _, i := range rand.Perm(len(formats))[:min(long.Times(1, len(formats)), len(formats))] {
		format := formats[i]
		grown := peak(t, format, size) - small
		for range 2 { // a collector that others starve comes later: what it takes is the least
			if grown > 3*size {
				grown = min(grown, peak(t, format, size)-small)
			}
		}
		if grown > 3*size {
			t.Errorf("%s: a reply of %d MB takes %d MB beside %d MB", format, size>>20, grown>>20, small>>20)
		} else {
			t.Logf("%s: a reply of %d MB takes %d MB beside %d MB", format, size>>20, grown>>20, small>>20)
		}
	}
}

// peak has the program print a reply of so many bytes and returns the most memory that it and its host had.
func peak(t *testing.T, format string, size int) (most int) {
	t.Helper()
	reply := strings.Repeat("A line of a long <reply>, 32 by\n", size/32)
	server := llmtest.New(llmtest.Reply{Parts: []llm.Part{llm.Text{Text: reply}}, Chunk: 4096})
	base, stop, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s := newSite(t)
	s.env = append(s.env, "OPENAI_API_KEY=k", "OPENAI_BASE_URL="+base+"/v1")
	c := s.command("-p", "go on", "--model", "openai/fake", "--output-format", format)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	piece, got, lines := make([]byte, 64<<10), 0, 0
	for err == nil {
		var n int
		n, err = out.Read(piece)
		got += n
		lines += bytes.Count(piece[:n], []byte("32 by"))
		// Once it ended the kernel has no figure that is only its own; before its last
		// words are read it can't end.
		kb, hosts := 0, s.hosts()
		for _, pid := range append(hosts, c.Process.Pid) {
			if status, e := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); e == nil {
				if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
					one := 0
					_, _ = fmt.Sscan(rest, &one)
					kb += one
				}
			}
		}
		if len(hosts) == 1 {
			most = max(most, kb)
		}
	}
	if e := c.Wait(); err != io.EOF || e != nil || lines < size/32*9/10 {
		t.Fatalf("%v, %v: %d bytes, %d lines: %s", err, e, got, lines, errs.String())
	}
	if most == 0 {
		t.Fatal("its host was not seen")
	}
	return most << 10
}
