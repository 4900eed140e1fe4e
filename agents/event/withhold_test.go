package event

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"fantail/agents/llm"
	"fantail/tools/secret"
)

// TestWithhold: a reply is passed on without keys, in any part and however they are split; nothing else of it is lost
// or changed. A signed part loses its signature if it contained a key.
func TestWithhold(t *testing.T) {
	const key = "the-key-0123456789"
	mark := secret.Mark("KEY")
	keys := secret.New([]string{"KEY"}, func(string) string { return key })
	think := func(index int, text, opaque string) llm.Part {
		return llm.Thinking{Index: index, Text: text, Opaque: opaque}
	}
	for _, c := range []struct {
		name  string
		parts []llm.Part
		fails error
		want  string
	}{
		{"plain", []llm.Part{llm.Text{Text: "a"}, llm.Text{Text: "b"}}, nil, "text 0:ab"},
		{"whole", []llm.Part{llm.Text{Text: "a " + key + " b"}}, nil, "text 0:a KEY b"},
		{"in pieces", []llm.Part{llm.Text{Text: "a " + key[:3]}, llm.Text{Text: key[3:9]}, llm.Text{Text: key[9:] + " b"}}, nil, "text 0:a KEY b"},
		{"a beginning alone", []llm.Part{llm.Text{Text: "a " + key[:9]}, llm.Text{Text: "b"}}, nil, "text 0:a the-key-0b"},
		{"a beginning at the end of a block", []llm.Part{llm.Text{Text: key[:9]}, llm.Text{Index: 1, Text: key[9:]}}, nil, "text 0:the-key-0|text 1:123456789"},
		{"a beginning at the end", []llm.Part{llm.Text{Text: key[:9]}, llm.Stop{}}, nil, "text 0:the-key-0|stop  [] []"},
		{"a beginning before a failure", []llm.Part{llm.Text{Text: key[:9]}}, errors.New("gone"), "text 0:the-key-0|failed: gone"},
		{"of an attempt that is void", []llm.Part{llm.Text{Text: key[:9]}, llm.Retrying{Err: &llm.Error{Message: "m"}}, llm.Text{Text: "b"}}, nil, "text 0:|again: m|text 0:b"},
		{"text after thinking", []llm.Part{think(0, key[:9], ""), llm.Text{Text: key[9:]}}, nil, "thinking 0:the-key-0|text 0:123456789"},

		{"signed", []llm.Part{think(0, "a", ""), think(0, "b", "sig")}, nil, "thinking 0:ab(sig)"},
		{"signed with it", []llm.Part{think(0, key, "sig")}, nil, "thinking 0:KEY"},
		{"signed, in an earlier piece", []llm.Part{think(0, "a "+key+" ", ""), think(0, "b", ""), think(0, "", "sig")}, nil, "thinking 0:a KEY b"},
		{"signed, in pieces", []llm.Part{think(0, key[:9], ""), think(0, key[9:], ""), think(0, "", "sig")}, nil, "thinking 0:KEY"},
		{"signed, a beginning", []llm.Part{think(0, key[:9], ""), think(0, "", "sig")}, nil, "thinking 0:the-key-0(sig)"},
		{"in the signature", []llm.Part{think(0, "a", "x"+key)}, nil, "thinking 0:a"},
		{"signed, in the block before", []llm.Part{think(0, key, "sig"), think(1, "a", "sig")}, nil, "thinking 0:KEY|thinking 1:a(sig)"},
		{"signed, in a block before that is not", []llm.Part{think(0, key, ""), think(1, "a", "sig")}, nil, "thinking 0:KEY|thinking 1:a(sig)"},
		{"signed, in the one before of the same number", []llm.Part{think(0, key, "sig"), think(0, "a", "sig")}, nil, "thinking 0:KEYa(sig)"},

		{
			"a call",
			[]llm.Part{llm.ToolCall{ID: "i" + key, Name: "n" + key, Title: "t" + key, Args: []byte(`{"a":"` + key + `"}`)}},
			nil,
			`call iKEY nKEY tKEY {"a":"KEY"}`,
		},
		{"a stop", []llm.Part{llm.Stop{Detail: "d" + key, Broken: []string{key}, Told: []string{"t", key}}}, nil, "stop dKEY [KEY] [t KEY]"},
		{"a retry", []llm.Part{llm.Retrying{Err: &llm.Error{Message: "bad " + key}}}, nil, "again: bad KEY"},
		{"an error", nil, errors.New("bad " + key), "failed: bad KEY"},
		{"an error within another", nil, fmt.Errorf("x: %w", &llm.Error{Provider: "p", Message: "bad " + key}), "failed: p: : bad KEY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			last := ""
			for p, err := range Withhold(keys, stream(c.parts, c.fails)) {
				if err != nil {
					last = ""
					fmt.Fprintf(&b, "|failed: %v", err)
					continue
				}
				head, text := told(p)
				if head != last || head == "" {
					b.WriteString("|" + head)
				}
				b.WriteString(text)
				last = head
			}
			if got := strings.ReplaceAll(strings.TrimPrefix(b.String(), "|"), mark, "KEY"); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// stream returns a reply of those parts that fails for that reason; nil: it does not.
func stream(parts []llm.Part, fails error) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		for _, p := range parts {
			if !yield(p, nil) {
				return
			}
		}
		if fails != nil {
			yield(nil, fails)
		}
	}
}

// told returns a part as a test writes it: which block it belongs to, if any, and the rest.
func told(p llm.Part) (head, text string) {
	switch p := p.(type) {
	case llm.Text:
		return fmt.Sprintf("text %d:", p.Index), p.Text
	case llm.Thinking:
		text = p.Text
		if p.Opaque != "" {
			text += "(" + p.Opaque + ")"
		}
		return fmt.Sprintf("thinking %d:", p.Index), text
	case llm.ToolCall:
		return "call ", fmt.Sprintf("%s %s %s %s", p.ID, p.Name, p.Title, p.Args)
	case llm.Stop:
		return "stop ", fmt.Sprintf("%s %v %v", p.Detail, p.Broken, p.Told)
	case llm.Retrying:
		return "again: ", p.Err.Message
	}
	return "", fmt.Sprintf("%T", p)
}
