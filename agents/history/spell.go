package history

import (
	"fmt"
	"regexp"
	"strings"

	"fantail/agents/llm"
)

// A conversation is written out as text to be summarised. A cut never removes only one end of an envelope, so that the
// author of each part stays clear.

// Spell renders a conversation as text of about that many bytes: it cuts long parts in the middle and, if that is not
// enough, leaves out parts in the middle.
func Spell(said []llm.Message, room int) string {
	room = max(room, 1024)
	for most := 16 << 10; ; most /= 2 {
		var parts []string
		for _, m := range said {
			for _, p := range m.Parts {
				if who, what := speaks(m.Role, p); what != "" {
					// Nothing in the text can end the envelope early.
					what = strings.ReplaceAll(shorten(what, most), "</conversation", "<\\/conversation")
					parts = append(parts, fmt.Sprintf("[%s]\n%s", who, what))
				}
			}
		}
		if text := strings.TrimSpace(strings.Join(parts, "\n\n")); len(text) <= room || most <= 512 {
			return strings.TrimSpace(ends(parts, room, "\n\n"))
		}
	}
}

// Summarise returns the request for a summary of a written-out conversation, with the person's hint if there is one.
func Summarise(spelt, hint string) llm.Message {
	ask := "Write the summary now."
	if hint = strings.TrimSpace(hint); hint != "" {
		ask = "The person asks that the summary mind this: " + hint + "\n\n" + ask
	}
	return llm.Message{Role: llm.User, Parts: []llm.Part{
		llm.Text{Text: "<conversation>\n" + spelt + "\n</conversation>", From: llm.FromTool},
		llm.Text{Text: ask, From: llm.FromHost},
	}}
}

// speaks returns the author of a part, and its text.
func speaks(role llm.Role, p llm.Part) (who, what string) {
	switch p := p.(type) {
	case llm.ToolCall:
		return "call of " + p.Name, string(p.Args)
	case llm.ToolResult:
		return "result", p.Text
	case llm.Text:
		switch {
		case role == llm.Assistant || p.From == llm.FromModel:
			return "assistant", p.Text
		case p.From == llm.FromPrompt:
			return "person", p.Text
		case p.From == llm.FromMessage:
			return "mail", p.Text
		case p.From == llm.FromFile:
			return "memory document", p.Text
		}
		return "program", p.Text
	}
	return "", "" // thinking is left out
}

// leastPart is the smallest size of a part in bytes that is still useful.
const leastPart = 256

// shorten is Fit for a text that may hold envelopes: each keeps both its ends or is left out whole.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	parts := apart(s)
	if len(parts) == 1 && parts[0].close == "" {
		return Fit(s, most)
	}
	share := max(leastPart, most/len(parts))
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.open + Fit(p.text, share) + p.close
	}
	return strings.TrimSuffix(ends(texts, max(most, len(texts[0])), ""), "\n")
}

// ends joins texts, leaving out those in the middle if they are too long together. The first and the last always stay.
func ends(texts []string, room int, between string) string {
	all := len(between) * len(texts)
	for _, t := range texts {
		all += len(t)
	}
	from, to := len(texts)/2, len(texts)/2 // those that are left out
	for all > room && to-from < len(texts)-2 {
		if to-from > 0 && (to == len(texts)-1 || from-1 >= len(texts)-to) {
			from--
			all -= len(texts[from])
		} else {
			all -= len(texts[to])
			to++
		}
	}
	if from == to {
		return strings.Join(texts, between)
	}
	gone := fmt.Sprintf("… %d parts are left out; the agent's tab shows all …\n", to-from)
	return strings.Join(append(append(append([]string(nil), texts[:from]...), gone), texts[to:]...), between)
}

// part is a piece of a text: an envelope, or the text between two, which has no ends.
type part struct{ open, text, close string }

// opening matches the line that opens one of the host's envelopes.
var opening = regexp.MustCompile(`(?m)^<(message|messages|memory|snapshot) [^\n]*\bmark="([^"\n]*)">\n`)

// apart splits a text at its envelopes.
func apart(s string) (parts []part) {
	for s != "" {
		at := opening.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		end := fmt.Sprintf("\n</%s mark=%q>", s[at[2]:at[3]], s[at[4]:at[5]])
		n := strings.Index(s[at[1]-1:], end)
		if n < 0 {
			break
		}
		n += at[1] - 1
		if at[0] > 0 {
			parts = append(parts, part{text: s[:at[0]]})
		}
		to := n + len(end)
		if to < len(s) && s[to] == '\n' {
			to++
		}
		parts = append(parts, part{open: s[:at[1]][at[0]:], text: s[at[1]:max(n, at[1])], close: s[n:to]})
		s = s[to:]
	}
	if s != "" {
		parts = append(parts, part{text: s})
	}
	return parts
}
