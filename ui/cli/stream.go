package cli

import (
	"encoding/json"
	"io"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/ui/attach"
	"fantail/ui/screen"
)

// stream prints one JSON object a line. After the first error it prints nothing.
type stream struct {
	w       io.Writer
	on      bool
	session string
	err     error
	waiting map[int64]string // task to the call that waits for its end
	inside  *string          // the call on behalf of which the next line's agent works
}

// within sets the task on which the agent of the next entries works; 0: none.
func (s *stream) within(task int64) {
	s.inside = nil
	if call, ok := s.waiting[task]; ok {
		s.inside = &call
	}
}

func (s *stream) put(v any) {
	if !s.on || s.err != nil {
		return
	}
	s.err = attach.WriteEscapedJSON(s.w, v)
}

// The types of the lines. Their field names are those that readers of such streams know. agent
// names the agent of a line.
type (
	lineInit struct {
		Type    string   `json:"type"`
		Subtype string   `json:"subtype"`
		Session string   `json:"session_id"`
		Dir     string   `json:"cwd"`
		Model   string   `json:"model"`
		Tools   []string `json:"tools"`
		Mode    string   `json:"permissionMode"`
		Version string   `json:"version"`
	}
	lineMessage struct {
		Type    string   `json:"type"`
		Message jMessage `json:"message"`
		Parent  *string  `json:"parent_tool_use_id"`
		Session string   `json:"session_id"`
		Agent   string   `json:"agent"`
	}
	jMessage struct {
		Role    string `json:"role"`
		Model   string `json:"model,omitempty"`
		Content []any  `json:"content"`
	}
	jText struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	jThinking struct {
		Type     string `json:"type"`
		Thinking string `json:"thinking"`
	}
	jUse struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	jResult struct {
		Type    string `json:"type"`
		ID      string `json:"tool_use_id"`
		Content string `json:"content"`
		Error   bool   `json:"is_error"`
	}
	lineTask struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Session string `json:"session_id"`
		Agent   string `json:"agent"`
		Prompt  string `json:"prompt,omitempty"`
		Outcome string `json:"outcome,omitempty"`
		Error   string `json:"error,omitempty"`
	}
	lineNotice struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Session string `json:"session_id"`
		Agent   string `json:"agent"`
		Text    string `json:"text"`
	}
	lineResult struct {
		Type    string    `json:"type"`
		Subtype string    `json:"subtype"`
		Error   bool      `json:"is_error"`
		Result  string    `json:"result"`
		Why     string    `json:"error,omitempty"`
		Session string    `json:"session_id"`
		Turns   int       `json:"num_turns"`
		Millis  int64     `json:"duration_ms"`
		Cost    *float64  `json:"total_cost_usd,omitempty"`
		Usage   jUsage    `json:"usage"`
		Denied  []jDenied `json:"permission_denials,omitempty"`
	}
	jDenied struct {
		Tool  string          `json:"tool_name"`
		ID    string          `json:"tool_use_id"`
		Agent string          `json:"agent"`
		Input json.RawMessage `json:"tool_input"`
	}
	jUsage struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
	}
)

func (s *stream) init(dir string, talk event.Info, mode string, tools []string) {
	s.put(lineInit{"system", "init", s.session, dir, talk.Model, tools, mode, screen.Version()})
}

// entry prints an entry of an agent's transcript, if the format has a line for it.
func (s *stream) entry(agent, model string, e history.Entry) {
	if e.Model != "" {
		model = e.Model
	}
	switch e.Kind {
	case history.EntryDelegated:
		if s.waiting == nil {
			s.waiting = map[int64]string{}
		}
		s.waiting[e.Task] = e.Call.ID
	case history.EntryText:
		s.message(agent, "assistant", model, jText{"text", e.Text})
	case history.EntryThinking:
		s.message(agent, "assistant", model, jThinking{"thinking", e.Text})
	case history.EntryCall:
		s.message(agent, "assistant", model, jUse{"tool_use", e.Call.ID, e.Call.Name, object(e.Call.Args)})
	case history.EntryResult:
		s.message(agent, "user", "", jResult{"tool_result", e.Result.ID, e.Result.Text, e.Result.Error})
	case history.EntryPrompt, history.EntryMessage, history.EntryBriefed, history.EntryHost:
		s.message(agent, "user", "", jText{"text", e.Text})
	case history.EntryMemory:
		s.message(agent, "user", "", jText{"text", "#mem-" + e.Memory.Title + "\n\n" + e.Text})
	case history.EntryNotice:
		s.put(lineNotice{"system", "notice", s.session, agent, e.Text})
	}
}

func (s *stream) message(agent, role, model string, content any) {
	s.put(lineMessage{role, jMessage{role, model, []any{content}}, s.inside, s.session, agent})
}

// object returns args if they are valid JSON, else the empty object.
func object(args json.RawMessage) json.RawMessage {
	if !json.Valid(args) {
		return json.RawMessage("{}")
	}
	return args
}

// tasks prints dispatched agents that began or ended.
func (s *stream) tasks(changed []event.Info) {
	for _, i := range changed {
		l := lineTask{Type: "system", Subtype: "task_started", Session: s.session, Agent: i.Name, Prompt: i.Prompt}
		if i.State.Terminal() {
			l.Subtype, l.Prompt, l.Outcome = "task_finished", "", string(i.Outcome)
			if i.Outcome != history.Completed {
				l.Error = i.Why
			}
		}
		s.put(l)
	}
}

func (s *stream) result(r lineResult) {
	r.Session = s.session
	s.put(r)
}

func usageOf(u llm.Usage) jUsage { return jUsage{u.Input, u.Output, u.CacheRead, u.CacheWrite} }
