package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/ui/uitest/adapters"
)

// trial is an adapter in a workspace of its own, with a model server and a host.
type trial struct {
	*site
	adapter
	server *llmtest.Server

	mu    sync.Mutex
	plays map[string]string // scripts of the model, by the names that prompts have

	c       *console
	all     *watch   // main's transcript
	turns   int      // that have ended in it
	prompts []string // of main
}

// newTrial starts the model server of adapters, and writes their configuration. main is main's model. Nothing runs yet.
func newTrial(t testing.TB, main string, as ...adapter) *trial {
	t.Helper()
	path := adapters.Path(t)
	y := &trial{site: newSite(t), adapter: as[0], plays: map[string]string{}}
	// Neither in memory nor where the agents keep what is temporary: Codex wants neither.
	home := t.TempDir()
	old := y.getenv("HOME")
	for i, e := range y.env {
		y.env[i] = strings.ReplaceAll(e, old, home)
	}
	y.set("PATH", path+":"+y.getenv("PATH"))
	y.server = &llmtest.Server{Answer: y.answer}
	base, stop, err := y.server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	config := fmt.Sprintf("model = %q\n", main)
	for _, a := range as {
		env, err := a.Configure(home, y.getenv("XDG_CONFIG_HOME"), base)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			y.set(name, value)
		}
		config += a.Table()
	}
	put(t, filepath.Join(y.getenv("XDG_CONFIG_HOME"), "fantail", "config.toml"), config)
	put(t, filepath.Join(y.dir, "notes.txt"), "alpha beta\n")
	put(t, filepath.Join(y.dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	return y
}

func (y *trial) set(name, value string) {
	y.env = append(slices.DeleteFunc(y.env, func(e string) bool { return strings.HasPrefix(e, name+"=") }), name+"="+value)
}

// hadAsked is the play that begins where the agent is told what was answered while its program did not run.
const hadAsked = "had asked"

// write writes a play.
func (y *trial) write(name string, lines ...string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.plays[name] = strings.Join(lines, "\n")
}

// answer has the model do what the play says that the prompt names: "play NAME".
func (y *trial) answer(req llmtest.Request) llmtest.Reply {
	y.mu.Lock()
	defer y.mu.Unlock()
	for i, m := range req.Messages {
		parts := slices.Clone(m.Parts)
		for j, p := range parts {
			text, is := p.(llm.Text)
			if !is || m.Role != llm.User {
				continue
			}
			at := strings.LastIndex(text.Text, "play ") // what may not have arrived comes once more before it
			name, _, _ := strings.Cut(text.Text[max(0, at):], "\n")
			name, is = strings.CutPrefix(name, "play ")
			if strings.Contains(text.Text, "You had asked: ") {
				name, is = hadAsked, true
			}
			parts[j] = llm.Text{Text: "-"} // what the agent adds of itself is no script
			if is {
				parts[j] = llm.Text{Text: y.plays[strings.TrimSpace(name)]}
			}
		}
		req.Messages[i].Parts = parts
	}
	return llmtest.Script(req)
}

// last is the newest request of the model whose conversation holds that text.
func (y *trial) last(text string) (r llmtest.Request, found bool) {
	for _, r := range slices.Backward(y.server.Requests()) {
		if body := string(r.Body); !titles(r) && strings.Contains(body, text) {
			return r, true
		}
	}
	return r, false
}

// titles reports whether a request is for the title of a conversation. It comes when it likes, with what began that in it:
// Codex's adapter has a conversation of its own for it, the others have one without tools.
func titles(r llmtest.Request) bool {
	return len(r.Tools) == 0 || strings.Contains(string(r.Body), "generate a very short title for a conversation")
}

// once checks that the model has been told each thing once: what the agent is sent has a mark.
func (y *trial) once(t *testing.T) {
	t.Helper()
	r, _ := y.last("play " + y.prompts[len(y.prompts)-1])
	body := string(r.Body)
	for _, p := range y.prompts {
		if n := strings.Count(body, "play "+p+`\n`); n != 1 {
			t.Errorf("the model was told %d times of %q: %s", n, p, strings.Join(y.told(r), "\n"))
		}
	}
	marks := map[string]int{}
	for _, piece := range strings.Split(body, "[fantail-")[1:] {
		mark, _, _ := strings.Cut(piece, "]")
		if marks[mark]++; marks[mark] > 1 {
			t.Errorf("the model was told %d times of %s: %s", marks[mark], mark, strings.Join(y.told(r), "\n"))
		}
	}
}

// told are the texts of a request, for people.
func (y *trial) told(r llmtest.Request) (texts []string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			texts = append(texts, string(m.Role)+": "+llm.Clip(fmt.Sprint(p), 300))
		}
	}
	return texts
}

// theirs are the processes of the agent's program below the host, by their groups.
func (y *trial) theirs(t testing.TB, host int) (groups []int) {
	t.Helper()
	below := map[int]bool{host: true}
	for again := true; again; {
		again = false
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			text, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
			parent, _ := strconv.Atoi(fields[1])
			group, _ := strconv.Atoi(fields[2])
			if !below[parent] || below[pid] {
				continue
			}
			below[pid], again = true, true
			words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if strings.Contains(string(words), y.Program) && group != host && !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
		}
	}
	return groups
}

// kill kills the agent's programs, as a crash would.
func (y *trial) kill(t testing.TB) {
	t.Helper()
	groups := y.theirs(t, y.host(t))
	if len(groups) == 0 {
		t.Fatal("none of the agent's programs runs")
	}
	for _, g := range groups {
		if err := syscall.Kill(-g, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}
