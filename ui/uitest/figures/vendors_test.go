package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/ui/uitest/adapters"
)

// vendorsModel answers "go X" with SAID-X at once, and "stream X" with that and words without an end.
func vendorsModel(r llmtest.Request) llmtest.Reply {
	for _, m := range slices.Backward(r.Messages) {
		for _, p := range m.Parts {
			text, is := p.(llm.Text)
			prompt, name, _ := strings.Cut(text.Text, " ")
			name, _, _ = strings.Cut(name, "\n")
			switch {
			case !is || m.Role != llm.User:
			case prompt == "go":
				return llmtest.Say("SAID-" + name + ".")
			case prompt == "stream":
				return llmtest.Reply{Parts: []llm.Part{llm.Text{Text: "SAID-" + name + ". " + llmtest.Lorem(1<<18)}}, Pace: pace}
			}
		}
	}
	return llmtest.Say("a title")
}

// vendors has a site know other vendors' agents, whose models say a word at once or, at "stream", words without an end.
func (s *site) vendors(b *testing.B, main string, as ...adapters.Adapter) {
	b.Helper()
	path := adapters.Path(b)
	base, stop, err := (&llmtest.Server{Answer: vendorsModel}).Start()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	config := filepath.Join(s.home, ".config")
	text := fmt.Sprintf("model = %q\n", main)
	for _, a := range as {
		env, err := a.Configure(s.home, config, base)
		if err != nil {
			b.Fatal(err)
		}
		s.env = append(s.env, env...)
		text += a.Table()
	}
	s.env = append(s.env, "PATH="+path+":"+os.Getenv("PATH"), "TMPDIR="+b.TempDir())
	if err := os.MkdirAll(filepath.Join(config, "fantail"), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "fantail", "config.toml"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkVendors measures other vendors' agents with a model that answers at once: from a prompt in a tab whose program
// does not run to its first word, and of the next prompt; from Esc in the middle of a reply to the turn's end; their
// memory beside our host's; and from a key to its echo while three of them stream, or three of a model of ours.
func BenchmarkVendors(b *testing.B) {
	adapters.Path(b)
	for _, a := range adapters.All() {
		b.Run(a.Name, func(b *testing.B) { vendor(b, a) })
	}
	b.Run("echo", echoBeside)
}

// vendor measures one of them.
func vendor(b *testing.B, a adapters.Adapter) {
	t := newTable(b)
	s := newSite(b, ours, model{})
	s.vendors(b, "acp/"+a.Name, a)
	const stops = "stopped by the user"
	for i := range max(rounds(), 9) + 1 {
		m := s.open()
		m.enter("/new") // a conversation of its own
		m.lose("/new")
		ask := func(prompt, name string) time.Duration {
			m.send(prompt + " " + name)
			m.see("\u203a " + prompt + " " + name)
			began := time.Now()
			m.send("\r")
			return m.see("SAID-" + name).Sub(began)
		}
		first := ask("go", fmt.Sprint("first", i))
		all, _ := resident(b, m.processes()...)
		host := alone(m.processes()...)
		next := ask("go", fmt.Sprint("next", i))
		ask("stream", fmt.Sprint("stopped", i))
		m.lose(stops)
		began := time.Now()
		m.send("\x1b")
		stopped := m.see(stops).Sub(began)
		m.stop()
		s.ends()
		if i == 0 { // the very first start makes what later ones find
			t.row("the very first start to its first word", "ms", "").ms(ours, first)
			continue
		}
		t.row("start to its first word", "ms", "").ms(ours, first)
		t.row("first word of a session that runs", "ms", "").ms(ours, next)
		t.row("Esc to the turn's end", "ms", "").ms(ours, stopped)
		t.row("memory of its programs", "MB", "").add(ours, all-host)
		t.row("memory of ours beside", "MB", "").add(ours, host)
	}
}

// echoBeside measures keys while three agents stream: of vendors, and of a model of ours.
func echoBeside(b *testing.B) {
	t := newTable(b)
	for _, c := range []struct{ what, as string }{{"three vendors' agents", "agent=%s"}, {"three agents of a model", "model=anthropic/%s"}} {
		s := newSite(b, ours, model{tokens: 1 << 18, pace: pace})
		models := s.env
		s.vendors(b, "builtin", adapters.All()...)
		if strings.HasPrefix(c.as, "model") {
			s.env = append(s.env, models...)
		}
		m := s.open()
		for i, a := range adapters.All() {
			m.enter(fmt.Sprintf("/push "+c.as+" name=w%d stream x", a.Name, i))
			m.see(fmt.Sprintf("Queued w%d", i))
		}
		m.enter("/run 3")
		for i := range 3 {
			m.see(fmt.Sprintf("w%d \u25cf", i))
		}
		pause(15 * time.Second) // in which all begin to stream
		r := t.row("key to echo, "+c.what+" stream", "ms", "")
		for range 10 * max(rounds(), 9) {
			r.ms(ours, m.echo())
		}
		t.also(r, 0.99, "")
		m.stop()
		s.ends()
	}
}

// alone is the memory of processes without those below them, in MB.
func alone(pids ...int) (all float64) {
	for _, pid := range pids {
		pss, _ := field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss")
		all += float64(pss) / 1024
	}
	return all
}
