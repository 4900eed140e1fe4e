package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/agents/llm/llmtest"
)

// run runs the built program without a terminal.
func (s *site) run(t *testing.T, input string, args ...string) (out, errs string, code int) {
	t.Helper()
	c := s.command(args...)
	c.Stdin = strings.NewReader(input)
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(wait, func() { _ = c.Process.Signal(syscall.SIGABRT) })
	defer late.Stop()
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), c.ProcessState.ExitCode()
}

func TestPrintCarriesOutAPrompt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, errs, code := s.run(t, "", "-p", "run echo h''i", "--permission-mode", "yolo")
	if code != ok || !strings.Contains(out, "hi") || !strings.HasSuffix(out, "\n") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	out, errs, code = s.run(t, "say two\n", "-p", "say one")
	if code != ok || !strings.Contains(out, "one") || !strings.Contains(out, "two") {
		t.Errorf("with standard input: exit code %d, output %q, errors %q", code, out, errs)
	}
	out, errs, code = s.run(t, "say three\n", "-p")
	if code != ok || !strings.Contains(out, "three") || strings.Contains(out, "two") {
		t.Errorf("from standard input: exit code %d, output %q, errors %q", code, out, errs)
	}
}

func TestPrintWaitsForWhatItDispatched(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, errs, code := s.run(t, "", "-p", "delegate async child: run echo made > file", "--yolo")
	if code != ok || !strings.Contains(errs, "1 message is unread in prompt-") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "file")); err != nil || string(text) != "made\n" {
		t.Errorf("the dispatched task left %q, %v", text, err)
	}
	// What is only queued does not run, and is not waited for.
	_, errs, code = s.run(t, "", "-p", "push later: run echo made > other")
	if code != ok || !strings.Contains(errs, "1 queued task was not started") {
		t.Errorf("exit code %d, errors %q", code, errs)
	}
	_, errs, code = s.run(t, "", "-p", "say nothing new")
	if code != ok || errs != "" {
		t.Errorf("what was there before is told again: %q", errs)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "other")); err == nil {
		t.Error("the queued task ran")
	}
}

func TestPrintDeniesWhatWouldAsk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, errs, code := s.run(t, "", "-p", "run touch made")
	if _, err := os.Stat(filepath.Join(s.dir, "made")); err == nil {
		t.Error("the command ran")
	}
	if !strings.Contains(out+errs, "--permission-mode") {
		t.Errorf("no reason: exit code %d, output %q, errors %q", code, out, errs)
	}
	out, _, _ = s.run(t, "", "-p", "run touch made", "--permission-mode", "plan")
	if _, err := os.Stat(filepath.Join(s.dir, "made")); err == nil {
		t.Errorf("the command ran in mode plan: %q", out)
	}
	if out, errs, code = s.run(t, "", "-p", "run touch made", "--yolo"); code != ok {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "made")); err != nil {
		t.Errorf("the command did not run: %v", err)
	}
}

func TestPrintFails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, errs, code := s.run(t, "", "-p", "fail all is lost")
	if code != failed || !strings.Contains(errs, "all is lost") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-p"}, "needs a prompt"},
		{[]string{"-p", "x", "--model", "nobody/nothing"}, "nobody"},
		{[]string{"-p", "x", "--cwd", filepath.Join(s.dir, "missing")}, "missing"},
		{[]string{"--modle"}, "did you mean --model?"},
		{nil, "-p"}, // standard output is no terminal
	} {
		out, errs, code := s.run(t, "", c.args...)
		if code != usage || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") > 3 {
			t.Errorf("%q: exit code %d, output %q, errors %q", c.args, code, out, errs)
		}
	}
}

// What fails ends with exit code 1 and a line that says so, told once, whatever a prompt
// before ended with; what there was so far is the output.
func TestPrintFails_withWhatItDid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range []struct{ prompt, out, why string }{
		{"please refactor", "", "No language model is configured: `please refactor` is not one of the instructions"},
		{"run echo so far; exit 3 then say after", "so far", "`echo so far; exit 3` · exit 3"},
		{"read gone", "", "`read gone`: "},
		{"run the tests", "", "`the` is no program here. Which command do you mean?"},
	} {
		out, errs, code := s.run(t, "", "-p", c.prompt, "--yolo")
		if code != failed || !strings.Contains(out, c.out) || strings.Contains(out, "\nafter") || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "fantail: "+c.why) {
			t.Errorf("%s: exit code %d, output %q, errors %q", c.prompt, code, out, errs)
		}
		if c.out == "" && out != "" {
			t.Errorf("%s: %q", c.prompt, out)
		}
	}
}

func TestPrintFromAnotherDirectory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	elsewhere := t.TempDir()
	out, errs, code := s.run(t, "", "-p", "run pwd", "--yolo", "--cwd", elsewhere)
	if code != ok || !strings.Contains(out, filepath.Base(elsewhere)) {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
}

// result is what readers of the JSON forms rely on.
type result struct {
	Type    string         `json:"type"`
	Subtype string         `json:"subtype"`
	IsError *bool          `json:"is_error"`
	Result  string         `json:"result"`
	Session string         `json:"session_id"`
	Turns   int            `json:"num_turns"`
	Millis  *int           `json:"duration_ms"`
	Usage   map[string]int `json:"usage"`
}

func TestPrintJSON(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, errs, code := s.run(t, "", "-p", "run echo h''i", "--yolo", "--output-format", "json")
	var r result
	if err := json.Unmarshal([]byte(out), &r); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("exit code %d, %v: %q %q", code, err, out, errs)
	}
	if code != ok || r.Type != "result" || r.Subtype != "success" || r.IsError == nil || *r.IsError || !strings.Contains(r.Result, "hi") ||
		r.Session == "" || r.Turns < 1 || r.Millis == nil || r.Usage == nil {
		t.Errorf("exit code %d: %s", code, out)
	}
	out, _, code = s.run(t, "", "-p", "fail all is lost", "--output-format", "json")
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != failed || r.Subtype != "error" || !*r.IsError || !strings.Contains(out, "all is lost") {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
}

func TestPrintStreamJSON(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, errs, code := s.run(t, "", "-p", "run echo h''i", "--yolo", "--output-format", "stream-json")
	if code != ok {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var kinds []string
	for line := range strings.Lines(out) {
		var l struct {
			Type, Subtype string
			Message       struct {
				Role    string
				Content []struct{ Type string }
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		kind := l.Type + " " + l.Subtype
		for _, c := range l.Message.Content {
			kind += c.Type
		}
		kinds = append(kinds, kind)
	}
	all := strings.Join(kinds, ", ")
	at := 0
	for _, want := range []string{"system init", "user text", "assistant tool_use", "user tool_result", "assistant text", "result success"} {
		i := strings.Index(all[at:], want)
		if i < 0 {
			t.Fatalf("no %q in its place: %s\n%s", want, all, out)
		}
		at += i
	}
	if !strings.HasPrefix(all, "system init") || !strings.HasSuffix(all, "result success") {
		t.Errorf("order: %s", all)
	}
}

// fifo makes a named pipe in the workspace; first returns the first line that
// somebody writes into it.
func (s *site) fifo(t *testing.T, name string) (first func(c *console) string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// For reading and writing, so that opening it waits for nobody.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func(c *console) string {
		t.Helper()
		if err := f.SetReadDeadline(time.Now().Add(wait)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		n, err := f.Read(buf)
		if err != nil {
			if c != nil {
				t.Fatalf("nothing came through %s: %v; the screen:\n%s", name, err, c.text())
			}
			t.Fatalf("nothing came through %s: %v", name, err)
		}
		return strings.TrimSpace(string(buf[:n]))
	}
}

func TestPrintSignalled(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			s := newSite(t)
			first := s.fifo(t, "started")
			c := s.command("-p", "say before then run echo $$ > started; exec sleep 600", "--yolo", "--output-format", "stream-json")
			var out, errs bytes.Buffer
			c.Stdout, c.Stderr = &out, &errs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			pid := first(nil)
			if err := c.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if code := c.ProcessState.ExitCode(); code != 128+int(sig) {
				t.Errorf("exit code %d; errors %s", code, errs.String())
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			var r result
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || r.Type != "result" || !*r.IsError {
				t.Errorf("last line: %v %s", err, lines[len(lines)-1])
			}
			if outlives(pid) {
				t.Errorf("the command (process %s) still runs", pid)
			}
		})
	}
}

func TestPrintEndsWhenNobodyReads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.command("-p", "say one then say two", "--output-format", "stream-json")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout = w
	var errs bytes.Buffer
	c.Stderr = &errs
	r.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != failed || !strings.Contains(errs.String(), "write the answer") {
		t.Errorf("exit code %d, errors %q", code, errs.String())
	}
}

// An agent that a file describes answers a prompt as what the file says: its words, its tools, and no mode that allows more.
func TestPrint_asAFilesAgent(t *testing.T) {
	t.Parallel()
	y := newSite(t)
	server := &llmtest.Server{Answer: llmtest.Script}
	base, stop, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	y.env = append(y.env, "OPENAI_API_KEY=k", "OPENAI_BASE_URL="+base+"/v1", "FANTAIL_MODEL=openai/shells")
	put(t, filepath.Join(y.dir, ".claude/agents/reviewer.md"), "---\nname: reviewer\ndescription: Reviews\ntools: Read, Bash\npermissionMode: plan\n---\nLook twice.\n")
	put(t, filepath.Join(y.dir, ".claude/agents/other.md"), "---\nname: other\ndescription: Another\nmodel: openai/its-own\n---\nDiffer.\n")
	const prompt = `call bash {"command":"touch made"} ;; say the end`
	if out, errs, code := y.run(t, "", "-p", prompt, "--agent", "reviewer", "--yolo"); code != ok || !strings.Contains(out, "the end") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(y.dir, "made")); err == nil {
		t.Error("it ran in mode yolo, and its file says plan")
	}
	reqs := server.Requests()
	for _, r := range reqs {
		if !bytes.Contains(r.Body, []byte("You work as the agent reviewer")) || !bytes.Contains(r.Body, []byte("Look twice.")) || len(r.Tools) != 3 || r.Model != "shells" {
			t.Errorf("it is %s with the tools %v: %s", r.Model, r.Tools, r.Body)
		}
	}
	if _, errs, code := y.run(t, "", "-p", "say hello", "--agent", "other"); code != ok || len(reqs) != 2 || server.Requests()[2].Model != "its-own" {
		t.Errorf("%d requests, then exit code %d, errors %q", len(reqs), code, errs)
	}
	for args, says := range map[string]string{
		"-p hello --agent reviewr":          `there is no agent of the name "reviewr"; did you mean "reviewer"? there are other, reviewer, claude`,
		"-p hello --agent reviewer -c":      "stays what it was",
		"--agent reviewer -p --resume x yy": "stays what it was",
	} {
		if _, errs, code := y.run(t, "", strings.Fields(args)...); code != usage || !strings.Contains(errs, says) {
			t.Errorf("%s: exit code %d, errors %q", args, code, errs)
		}
	}
}
