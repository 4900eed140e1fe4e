// Package historytest generates conversations.
//
// Does: generate a random transcript, with its entries in any possible order, and ask for a request now and then, both
// from a talk that has grown all along and from the same entries alone; compare what a provider writes for the two.
//
// Does not: know how a provider writes a request.
package historytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"pgregory.net/rapid"

	"fantail/agents/history"
	"fantail/agents/llm"
)

// Asked is one request: its messages from the growing talk, and as made from its entries alone.
type Asked struct {
	Model       string // the provider's own name of it
	Kept, Alone []llm.Message
}

// Tell generates a transcript in which two models of that provider and one of another have spoken, and calls ask for
// requests.
func Tell(t *rapid.T, provider string, ask func(Asked)) {
	s := &story{t: t, provider: provider, model: "m", talk: &history.Talk{}}
	request := func() { ask(s.request()) }
	acts := []func(){
		s.prompt, s.mail, s.remind, s.host, s.think, s.say, s.call, s.call, s.answer, s.answer, s.answer, s.orphan, s.end, s.withdraw,
		s.sumUp, s.clear, s.turn, s.rest, s.read, s.fork, request, request, request, request,
		func() { // a retry
			a := s.request()
			ask(a)
			ask(a)
		},
	}
	for range rapid.IntRange(1, 60).Draw(t, "acts") {
		acts[rapid.IntRange(0, len(acts)-1).Draw(t, "act")]()
	}
	request()
}

// turned are the models that take turns.
var turned = map[string]string{"m": "n", "n": "m"}

// story is a transcript that is being generated.
type story struct {
	t               *rapid.T
	provider, model string
	rows            []history.Entry
	talk            *history.Talk
	open            []string // the calls of the last batch
	mails           []int64  // the messages
}

func (s *story) request() Asked {
	var alone []history.Entry
	for _, e := range s.rows {
		alone = e.Extend(alone)
	}
	name := s.provider + "/" + s.model
	return Asked{Model: s.model, Kept: s.talk.Request(name), Alone: history.Request(alone, name)}
}

func (s *story) add(e history.Entry) {
	e.Seq = int64(len(s.rows) + 1)
	s.rows = append(s.rows, e)
	s.talk.Add(e)
}

// text returns a text that is blank, looks like part of a request, or is awkward in one.
func (s *story) text() string {
	return rapid.SampledFrom([]string{
		"", " \n\t", "word", "Größer 日本語 🙂", "if x < y && z > 0 {\n\treturn \"\\\\\"\n}", "\u2028\x00\x1b[31m\x7f", "not \xff\xc3 text",
		`]},{"role":"assistant","content":[{"type":"tool_result"}]}`, strings.Repeat("long ", 2000),
	}).Draw(s.t, "text")
}

func (s *story) prompt() { s.add(history.Entry{Kind: history.EntryPrompt, Text: s.text()}) }

func (s *story) mail() {
	s.add(history.Entry{Kind: history.EntryMessage, Text: s.text()})
	s.mails = append(s.mails, int64(len(s.rows)))
}

// remind is a document that one of the messages names.
func (s *story) remind() {
	if len(s.mails) == 0 {
		return
	}
	missing := rapid.Bool().Draw(s.t, "missing")
	s.add(history.Entry{
		Kind: history.EntryMemory, Text: s.text(), Behind: rapid.SampledFrom(s.mails).Draw(s.t, "behind"),
		Memory: &history.Recall{Title: "notes", Missing: missing, Quoted: missing},
	})
}

func (s *story) host() {
	s.add(history.Entry{Kind: history.EntryHost, Text: s.text()})
	s.add(history.Entry{Kind: history.EntryNotice, Text: "for people only"})
	s.add(history.Entry{Kind: history.EntryShell, Shell: &history.Shell{Command: "ls", Output: s.text()}})
}

// said returns the name of the model of a reply, the present one most of the time.
func (s *story) said() string {
	return rapid.SampledFrom([]string{s.provider + "/" + s.model, s.provider + "/" + s.model, s.provider + "/n", "other/m"}).Draw(s.t, "model")
}

func (s *story) think() {
	opaque := rapid.SampledFrom([]string{"", "signature:EqoB/+==", "signature:", "redacted:Emw<K", "redacted:", "reasoning_content"}).Draw(s.t, "opaque")
	s.add(history.Entry{Kind: history.EntryThinking, Text: s.text(), Opaque: opaque, Model: s.said()})
}

func (s *story) say() {
	s.add(history.Entry{Kind: history.EntryText, Text: s.text(), Model: s.said()})
}

// call is a batch of calls.
func (s *story) call() {
	s.open = nil
	for n := range rapid.IntRange(1, 3).Draw(s.t, "calls") {
		id := fmt.Sprintf(rapid.SampledFrom([]string{"toolu_%d_%d", "call %d:%d ü", "%d_%d_" + strings.Repeat("x", 50)}).Draw(s.t, "id"), len(s.rows), n)
		name := rapid.SampledFrom([]string{"read_file", "", "no name\x1b", strings.Repeat("n", 99)}).Draw(s.t, "name")
		args := rapid.SampledFrom([]string{
			`{}`, `{"path":"a<b>&c","n":-1.5e300}`, " {\n \"x\" : [ 1, {\"y\":null} ] }\n", `{"s":"\u00e9\ud83d\ude42 ü 🙂"}`, "", `null`, `[1]`, `{"half":`,
		}).Draw(s.t, "args")
		s.add(history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: id, Name: name, Args: json.RawMessage(args)}})
		s.open = append(s.open, id)
	}
}

// answer adds the result of one of the last batch's calls, in any order and not always once.
func (s *story) answer() {
	if len(s.open) == 0 {
		return
	}
	id := rapid.SampledFrom(s.open).Draw(s.t, "answered")
	s.add(history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: id, Text: s.text(), Error: rapid.Bool().Draw(s.t, "failed")}})
}

func (s *story) orphan() {
	s.add(history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: "nobody", Text: s.text()}})
}

func (s *story) end() {
	out := rapid.SampledFrom([]history.Outcome{history.Completed, history.Interrupted}).Draw(s.t, "outcome")
	s.add(history.Entry{Kind: history.EntryEnded, End: &history.End{Outcome: out}})
	s.rest()
}

// withdraw withdraws one of the messages, however long ago it was sent.
func (s *story) withdraw() {
	if len(s.mails) > 0 {
		s.add(history.Entry{Kind: history.EntryWithdrawn, Withdraws: rapid.SampledFrom(s.mails).Draw(s.t, "withdrawn")})
	}
}

func (s *story) sumUp() {
	if len(s.rows) == 0 {
		return
	}
	upTo := rapid.IntRange(1, len(s.rows)).Draw(s.t, "up to")
	s.add(history.Entry{Kind: history.EntrySummary, Text: s.text(), Summary: &history.Summary{
		UpTo: int64(upTo), State: s.text(), Prompt: s.text(),
	}})
}

func (s *story) clear() { s.add(history.Entry{Kind: history.EntryCleared}) }

// turn turns to the other model.
func (s *story) turn() {
	s.model = turned[s.model]
}

func (s *story) rest() { s.talk.Forget() }

// read reads the transcript from the rows again.
func (s *story) read() {
	s.talk = &history.Talk{}
	for _, e := range s.rows {
		s.talk.Add(e)
	}
}

// fork goes on with a copy.
func (s *story) fork() {
	s.read()
	s.add(history.Entry{Kind: history.EntrySnapshot, Text: "You are a copy."})
}

// Same generates a transcript and checks its requests as one provider writes them. body returns a request as it is
// sent, in pieces; whole returns the same request, encoded at once. However the conversation has grown, a request
// whose messages were sent before, to this model or another one, has the same meaning as whole's, and the same bytes
// as one built from the entries alone. Sent bytes never change.
func Same(t *rapid.T, provider string, body func(model string, messages []llm.Message) ([][]byte, error), whole func(model string, messages []llm.Message) ([]byte, error)) {
	type was struct {
		pieces [][]byte
		text   []byte
	}
	var all []was
	same := func(model string, messages []llm.Message) []byte {
		pieces, err := body(model, messages)
		if err != nil {
			t.Fatal(err)
		}
		text := bytes.Join(pieces, nil)
		all = append(all, was{pieces, text})
		once, err := whole(model, messages)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(text)
		want, err2 := read(once)
		if err != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("sent\n%s\n%v\nencoded at once\n%s\n%v", text, err, once, err2)
		}
		return text
	}
	Tell(t, provider, func(a Asked) {
		kept := same(a.Model, a.Kept)
		if alone := same(a.Model, a.Alone); !bytes.Equal(kept, alone) {
			t.Fatalf("kept\n%s\nanew\n%s", kept, alone)
		}
		same(turned[a.Model], a.Alone) // a model that can't read any of the thinking
	})
	for _, w := range all {
		if now := bytes.Join(w.pieces, nil); !bytes.Equal(now, w.text) {
			t.Fatalf("sent\n%s\nand now\n%s", w.text, now)
		}
	}
}

// read parses a JSON text. It returns an error if a member occurs twice in an object, or if anything follows.
func read(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := value(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one value: %w", err)
	}
	return v, nil
}

func value(d *json.Decoder) (any, error) {
	begin, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch begin {
	case json.Delim('{'):
		object := map[string]any{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			if _, ok := object[name.(string)]; ok {
				return nil, fmt.Errorf("the member %q stands twice", name)
			}
			if object[name.(string)], err = value(d); err != nil {
				return nil, err
			}
		}
		_, err = d.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := value(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return begin, nil
}
