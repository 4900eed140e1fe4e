package hooks

import (
	"encoding/json"
	"path/filepath"

	"fantail/tools/validjson"
)

// theirs are the names that matchers know our tools by.
var theirs = map[string]string{
	"bash": "Bash", "read_file": "Read", "write_file": "Write", "edit_file": "Edit", "glob": "Glob", "grep": "Grep", "list_files": "LS",
	"delegate": "Task", "push": "Task", "ask_user": "AskUserQuestion", "memory": "Memory", "send": "SendMessage",
}

// toolNames returns the names of a tool: the one that hooks get, and ours.
func toolNames(tool string) []string {
	if t := theirs[tool]; t != "" {
		return []string{t, tool}
	}
	return []string{tool, tool}
}

// toolInput returns a call's arguments as hooks get them: with the names that hooks know, and absolute paths.
func toolInput(root, tool string, args json.RawMessage) any {
	var in map[string]any
	args, _ = validjson.Make(args)
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

// ourArgs returns the arguments of a call as its tool takes them, from those that a hook changed.
func ourArgs(tool string, input []byte) (json.RawMessage, error) {
	var in map[string]any
	input, _ = validjson.Make(input)
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	switch tool {
	case "read_file", "write_file", "edit_file":
		if p, ok := in["file_path"]; ok {
			delete(in, "file_path")
			in["path"] = p
		}
	}
	if tool == "edit_file" {
		edits, _ := in["edits"].([]any)
		if len(edits) == 0 {
			edits = []any{map[string]any{}}
		}
		for n, e := range edits {
			e, is := e.(map[string]any)
			if !is {
				e = map[string]any{}
			}
			if n == 0 { // the first edit is also at the top level
				for _, k := range []string{"old_string", "new_string", "replace_all"} {
					if v, ok := in[k]; ok {
						e[k] = v
					}
					delete(in, k)
				}
			}
			edits[n] = map[string]any{"old": e["old_string"], "new": e["new_string"], "replace_all": e["replace_all"] == true}
		}
		in["edits"] = edits
	}
	return json.Marshal(in)
}
