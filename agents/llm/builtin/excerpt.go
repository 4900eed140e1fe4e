package builtin

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"fantail/agents/llm"
)

// excerptLimit is how many bytes of each end of a text are in an excerpt.
const excerptLimit = 1500

// excerpt answers a request that only has text to process, such as one for a summary: it has no
// tools, no prompt and no mail, only a text to read and an instruction of the program. The engine
// understands neither and says so; it returns both ends of the text.
func excerpt(req *llm.Request) (string, bool) {
	var texts []string
	wanted := false
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			t, ok := p.(llm.Text)
			if !ok || t.From == llm.FromPrompt || t.From == llm.FromMessage {
				return "", false
			}
			if t.From == llm.FromTool {
				texts = append(texts, t.Text)
			}
			wanted = wanted || t.From == llm.FromHost
		}
	}
	if !wanted || len(req.Tools) > 0 || len(texts) == 0 {
		return "", false
	}
	text := strings.Join(texts, "\n\n")
	if len(text) > 2*excerptLimit {
		head, tail := excerptLimit, len(text)-excerptLimit
		for !utf8.RuneStart(text[head]) {
			head--
		}
		for !utf8.RuneStart(text[tail]) {
			tail++
		}
		text = fmt.Sprintf("%s\n\n… %d bytes are left out …\n\n%s", text[:head], tail-head, text[tail:])
	}
	return "The built-in engine can't summarise. This is the beginning and the end of what was said:\n\n" + text, true
}
