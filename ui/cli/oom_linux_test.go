package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

// Ways in which a runtime ends whom the system refuses memory. For the heap, and for what it keeps about it, it also tells
// where all were; for the stack of one more thread, which C's library asks for in a program that is built with cgo, it can't.
// The collector of garbage does not look whether the system gave it a queue, and faults.
var (
	noHeap   = regexp.MustCompile(`(?m)^(fatal error: |runtime: )(.*out of memory|.*cannot allocate memory)(?s:.*)^goroutine `)
	noThread = regexp.MustCompile(`(?m)^runtime(/cgo: pthread_create failed|: failed to create new OS thread)`)
	noQueue  = regexp.MustCompile(`(?m)^SIGSEGV: segmentation violation\nPC=.*\n\ngoroutine 0 .*\nruntime\.\(\*spanQueue\)`)
)

// enough is how much memory for data the program works with, in MiB.
const enough = 256

// TestMemoryEnds: a limit of memory that is reached in the middle of the work ends the
// host. Who waited for it is told so in one line, what the runtime has to say is in a file, and what came is kept (torture M21).
func TestMemoryEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	reply := strings.Repeat("x", 60<<20)
	// They come at the same time: one after the other they would fit.
	told, questions := make(chan string, 4), 0
	var server *llmtest.Server
	server = &llmtest.Server{Answer: func(llmtest.Request) llmtest.Reply {
		if questions++; questions == cap(told) {
			go server.Go("all have asked")
		}
		return llmtest.Reply{Hold: "all have asked", Parts: []llm.Part{llm.Text{Text: reply}}, Chunk: 1 << 20}
	}}
	base, stop, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s.env = append(s.env, "OPENAI_API_KEY=k", "OPENAI_BASE_URL="+base+"/v1")
	// All of them are answered by one host.
	for range cap(told) {
		go func() {
			p := s.command("-p", "go on", "--model", "openai/fake")
			c := exec.Command("/bin/sh", append([]string{"-c", `ulimit -d "$1"; shift; exec "$@"`, "sh", fmt.Sprint(enough << 10)}, p.Args...)...)
			c.Dir, c.Env = p.Dir, p.Env
			var errs strings.Builder
			c.Stderr = &errs
			_ = c.Run() // what it says tells
			told <- errs.String()
		}()
	}
	log := ""
	gone := regexp.MustCompile(`^fantail: the host ended before the answer was there \(.*\); (.*) may tell why, and fantail -p --continue goes on with it\n$`)
	again := regexp.MustCompile(`(?m)^fantail: .*: the program has no memory left: .*\n`) // the database was the first to miss some
	for range cap(told) {
		said := again.ReplaceAllString(<-told, "")
		if m := gone.FindStringSubmatch(said); m != nil {
			log = m[1]
		} else if said != "" {
			t.Errorf("it said %.2000q", said)
		}
	}
	if log == "" {
		t.Fatal("no memory was missing")
	}
	if wrote, err := os.ReadFile(log); err != nil || !noHeap.Match(wrote) && !noThread.Match(wrote) && !noQueue.Match(wrote) {
		t.Errorf("%v: the log has %.2000q", err, wrote)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: %v", err, info)
	}
	if out, errs, code := s.run(t, "", "send", "main", "still there"); code != ok {
		t.Errorf("afterwards: %s%s", out, errs)
	}
}
