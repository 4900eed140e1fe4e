package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

// TestMemoryEnds: a limit of memory that is reached in the middle of the work ends the
// program with one line; what the runtime has to say is in a file, and what came is kept (torture M21).
func TestMemoryEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t).released(t)
	temp := t.TempDir()
	reply := strings.Repeat("x", 60<<20)
	server := &llmtest.Server{Answer: func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Parts: []llm.Part{llm.Text{Text: reply}}, Chunk: 1 << 20}
	}}
	base, stop, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s.env = append(s.env, "OPENAI_API_KEY=k", "OPENAI_BASE_URL="+base+"/v1", "TMPDIR="+temp)
	said, code := "", ok
	for range 5 {
		c := s.limited("-d", needData, "-p", "go on", "--model", "openai/fake")
		var errs strings.Builder
		c.Stderr = &errs
		_ = c.Run() // the code says it
		if said, code = errs.String(), c.ProcessState.ExitCode(); code != ok {
			break
		}
	}
	one := regexp.MustCompile(`^fantail: out of memory: this process may have no more under ulimit -d 262144; messages and transcripts are on disk; details are in (.*)\n$`)
	m := one.FindStringSubmatch(said)
	if m == nil || filepath.Dir(m[1]) != temp {
		t.Fatalf("exit code %d: %.2000s", code, said)
	}
	if text, err := os.ReadFile(m[1]); err != nil || !strings.Contains(string(text), "out of memory") || !strings.Contains(string(text), "goroutine ") {
		t.Errorf("%v: the file has %.500q", err, text)
	}
	if info, err := os.Stat(m[1]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: %v", err, info)
	}
	if out, errs, code := s.run(t, "", "send", "main", "still there"); code != ok {
		t.Errorf("afterwards: %s%s", out, errs)
	}
}
