package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"fantail/inbox"
	"fantail/tools/files"
)

// RulesDir is the directory of the files in the workspace.
const RulesDir = ".agents"

// Limits of a file: a policy is small, and the parser is slow on deeply nested input.
const (
	most     = 16 << 10 // bytes
	maxFiles = 1000     // that are read
	brackets = 256      // that open a list or a mapping on one line
)

// ReadRules returns the rules of all agents that have a file in the workspace root, and the errors of unreadable files,
// both by the agent's name. A workspace without such files has no rules.
func ReadRules(root string) (good map[string]Rules, broken map[string]error) {
	good, broken = map[string]Rules{}, map[string]error{}
	own := files.Root{Dir: root, Bound: true}.Open()
	defer own.Close()
	own.Near(RulesDir)
	names, err := own.List(RulesDir, maxFiles)
	if err != nil {
		broken[""] = fmt.Errorf("read the policies of the agents: %w", err)
	}
	for _, f := range names {
		name, ok := strings.CutSuffix(f.Name(), ".yml")
		if !ok {
			if name, ok = strings.CutSuffix(f.Name(), ".yaml"); !ok {
				continue
			}
		}
		path := RulesDir + "/" + f.Name()
		text, err := readFile(own, path, f)
		if err == nil {
			if _, twice := good[name]; twice || broken[name] != nil {
				err = errors.New("there is another file for this agent; keep one of .yml and .yaml")
			} else {
				good[name], err = ParseRules(path, text)
			}
		}
		if err != nil {
			delete(good, name)
			broken[name] = RuleError(path, err)
		}
	}
	return good, broken
}

// readFile reads a small file that is one: neither a link nor a pipe that never ends.
func readFile(own *files.RootHold, path string, f fs.DirEntry) ([]byte, error) {
	if !f.Type().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	text, size, err := own.Read(path, most)
	if err == nil && size > most {
		err = fmt.Errorf("it has %d bytes; a policy has at most %d", size, most)
	}
	return text, err
}

// wrong is a fault at a place of a file.
type wrong struct {
	line, column int
	text         string
}

func (w *wrong) Error() string { return fmt.Sprintf("%d:%d: %s", w.line, w.column, w.text) }

// RuleError adds the file to an error of Parse: FILE:LINE:COLUMN: the error.
func RuleError(path string, err error) error {
	if w := (*wrong)(nil); errors.As(err, &w) {
		return fmt.Errorf("%s:%w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// fault is an error at a node.
func fault(n ast.Node, format string, args ...any) error {
	w := &wrong{line: 1, column: 1, text: fmt.Sprintf(format, args...)}
	if t := n.GetToken(); t != nil && t.Position != nil {
		w.line, w.column = t.Position.Line, t.Position.Column
	}
	return w
}

// ParseRules reads the text of a file; file is how people name it.
func ParseRules(file string, text []byte) (rules Rules, err error) {
	rules.File = file
	if n := bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{")); n > brackets {
		return rules, fmt.Errorf("it has %d brackets; a policy has at most %d", n, brackets)
	}
	doc, err := parser.ParseBytes(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), 0)
	if err != nil {
		var e yaml.Error
		if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
			p := e.GetToken().Position
			return rules, &wrong{p.Line, p.Column, "it is no YAML: " + inbox.Label(e.GetMessage()) + `; text that begins with a sign, such as "*", stands in quotes`}
		}
		return rules, fmt.Errorf("it is no YAML: %s", inbox.Label(err.Error()))
	}
	for i, d := range doc.Docs {
		if d.Body == nil {
			continue
		}
		if i > 0 {
			return rules, fault(d.Body, "a policy is one document")
		}
		err := each(d.Body, func(key string, k, v ast.Node) error {
			switch key {
			case "message_handling":
				return handling(&rules, v)
			case "outcomes":
				return outcomes(&rules.Outcomes, v)
			}
			return fault(k, "unknown key %q: a workspace's file sets message_handling and outcomes, and nothing else", inbox.Label(key))
		})
		if err != nil {
			return rules, err
		}
	}
	return rules, nil
}

// handling reads the value of message_handling.
func handling(rules *Rules, n ast.Node) error {
	return each(n, func(key string, k, v ast.Node) (err error) {
		switch key {
		case "default":
			rules.Default, err = mode(v)
		case "idle_after":
			rules.IdleAfter, err = pause(v)
		case "from":
			rules.From, err = table(v, func(k ast.Node, s string) (string, error) {
				if _, err := filepath.Match(s, ""); err != nil {
					return s, fault(k, "%q is not a pattern: * matches any characters, ? matches one", inbox.Label(s))
				}
				return s, nil
			})
		case "priority":
			rules.Priority, err = table(v, func(k ast.Node, s string) (inbox.Priority, error) {
				switch p := inbox.Priority(s); p {
				case inbox.Low, inbox.Normal, inbox.High, inbox.Urgent:
					return p, nil
				}
				return "", fault(k, "unknown priority %q: low, normal, high or urgent", inbox.Label(s))
			})
		case "tags":
			rules.Tags, err = table(v, func(_ ast.Node, s string) (string, error) { return s, nil })
		case "schedule":
			rules.Schedule, err = schedule(v)
		case "outcomes":
			err = outcomes(&rules.Outcomes, v)
		default:
			err = fault(k, "unknown key %q: message_handling has default, idle_after, from, priority, tags, schedule and outcomes", inbox.Label(key))
		}
		return err
	})
}

// each calls f for the entries of a mapping.
func each(n ast.Node, f func(key string, k, v ast.Node) error) error {
	var entries []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	case *ast.NullNode:
		return nil
	default:
		return fault(n, "here belong lines of the form key: value")
	}
	seen := map[string]bool{}
	for _, e := range entries {
		key, ok := scalar(e.Key)
		if !ok {
			return fault(e.Key, "a key is a word")
		}
		if seen[key] {
			return fault(e.Key, "%q stands here twice", inbox.Label(key))
		}
		seen[key] = true
		if err := f(key, e.Key, e.Value); err != nil {
			return err
		}
	}
	return nil
}

// scalar is the text of a plain value.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// mode reads one of the modes.
func mode(n ast.Node) (Mode, error) {
	s, ok := scalar(n)
	m := Mode(s)
	if !ok || !m.Known() {
		return "", fault(n, "unknown mode %q: manual, interrupt, queue, fork or interrupt-urgent-only", inbox.Label(s))
	}
	return m, nil
}

// table reads a mapping to modes.
func table[K comparable](n ast.Node, key func(k ast.Node, s string) (K, error)) (map[K]Mode, error) {
	t := map[K]Mode{}
	err := each(n, func(s string, k, v ast.Node) error {
		name, err := key(k, s)
		if err == nil {
			t[name], err = mode(v)
		}
		return err
	})
	return t, err
}

// pause reads a duration of seconds up to a day.
func pause(n ast.Node) (time.Duration, error) {
	s, _ := scalar(n)
	d, err := ParsePause(s)
	if err != nil {
		return 0, fault(n, "%s", err)
	}
	return d, nil
}

// outcomes reads the outcomes of forks: a mapping, or a list of mappings.
func outcomes(o *Outcomes, n ast.Node) error {
	if list, ok := n.(*ast.SequenceNode); ok {
		for _, v := range list.Values {
			if err := outcomes(o, v); err != nil {
				return err
			}
		}
		return nil
	}
	text := func(v ast.Node) (string, error) {
		s, ok := scalar(v)
		if !ok || strings.TrimSpace(s) == "" {
			return "", fault(v, "here belongs a text")
		}
		return s, nil
	}
	return each(n, func(key string, k, v ast.Node) (err error) {
		switch key {
		case "auto_close":
			if b, ok := v.(*ast.BoolNode); !ok || !b.Value {
				return fault(v, "a fork always closes itself: auto_close is true")
			}
		case "create_memory":
			o.Memory, err = text(v)
		case "send_to_parent":
			o.ToParent, err = text(v)
		case "escalate":
			o.Escalate, err = text(v)
		default:
			err = fault(k, "unknown outcome %q: auto_close, create_memory, send_to_parent or escalate", inbox.Label(key))
		}
		return err
	})
}
