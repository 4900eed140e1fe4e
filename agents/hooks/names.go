package hooks

import (
	"encoding/json"
	"path/filepath"
)

// theirs are the names that matchers know our tools by.
var theirs = map[string]string{
	"bash": "Bash", "read_file": "Read", "write_file": "Write", "edit_file": "Edit", "glob": "Glob", "grep": "Grep", "list_files": "LS",
	"delegate": "Task", "push": "Task", "ask_user": "AskUserQuestion", "memory": "Memory", "send": "SendMessage",
}

// toolNames are the names of a tool: the one that hooks are told, and ours.
func toolNames(tool string) []string {
	if t := theirs[tool]; t != "" {
		return []string{t, tool}
	}
	return []string{tool, tool}
}

// toolInput are a call's arguments as hooks are told them: by the names that they have there, with whole paths.
func toolInput(root, tool string, args json.RawMessage) any {
	var in map[string]any
	if json.Unmarshal(args, &in) != nil {
		return json.RawMessage("{}")
	}
	path := func(from, to string) {
		if p, ok := in[from].(string); ok {
			delete(in, from)
			if !filepath.IsAbs(p) {
				p = filepath.Join(root, p)
			}
			in[to] = p
		}
	}
	switch tool {
	case "read_file", "write_file":
		path("path", "file_path")
	case "edit_file":
		path("path", "file_path")
		edits, _ := in["edits"].([]any)
		for n, e := range edits {
			if e, ok := e.(map[string]any); ok {
				edits[n] = map[string]any{"old_string": e["old"], "new_string": e["new"], "replace_all": e["replace_all"] == true}
				if n == 0 {
					for k, v := range edits[n].(map[string]any) {
						in[k] = v
					}
				}
			}
		}
	case "glob", "grep", "list_files":
		path("path", "path")
	}
	return in
}
