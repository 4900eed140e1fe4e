package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

const (
	maxOf     = 2000 // rules of a file
	maxOthers = 1000 // other keys that are named
	maxFaults = 50   // faults, one for each place
)

// RuleLists are the keys that hold rules.
var RuleLists = []string{"allow", "ask", "deny"}

const notList = "%s is a list of rules: [ … ]"

// RuleLine is one rule in a file.
type RuleLine struct {
	List         string // allow, ask or deny
	Text         string
	Line, Column int // from 1
}

// RuleFault is an error at a place. Guards: the unreadable part may deny or ask.
type RuleFault struct {
	Line, Column int
	Text         string
	Guards       bool
}

// RuleFile is the content of a file of rules.
type RuleFile struct {
	Lines  []RuleLine
	Others []RuleLine  // keys outside the lists: List is "", Text the key
	Faults []RuleFault // in their order

	full bool // it has more rules than the limit
}

// OpenRules reads the file below root; no link leads out of root. A missing file is empty.
func OpenRules(root, name string) (RuleFile, error) {
	data, err := OpenSettings(root, name)
	return read(data, name, err)
}

// ReadRules reads the file at a path, and follows links. A missing file is empty.
func ReadRules(path string) (RuleFile, error) {
	data, err := ReadSettings(path)
	return read(data, path, err)
}

func read(data []byte, name string, err error) (RuleFile, error) {
	switch {
	case err != nil:
		return RuleFile{}, err
	case strings.HasSuffix(name, ".toml"):
		return TOMLRules(data), nil
	}
	return JSONRules(data), nil
}

// add adds a rule, as long as they are not too many.
func (f *RuleFile) add(l RuleLine) {
	switch {
	case len(f.Lines) < maxOf:
		f.Lines = append(f.Lines, l)
	case !f.full:
		f.full = true
		f.fault("", l.Line, l.Column, "there are more than %d rules; this and what follows are not read", maxOf)
	}
}

// other adds a key that holds no rules, up to a limit.
func (f *RuleFile) other(l RuleLine) {
	if len(f.Others) < maxOthers {
		f.Others = append(f.Others, l)
	}
}

// fault adds an error, up to a bound; beyond it one fault counts for the rest. list is the list that the error is in;
// "": it may be any.
func (f *RuleFile) fault(list string, line, column int, format string, args ...any) {
	guards := list != "allow"
	switch n := len(f.Faults); {
	case n < maxFaults:
		f.Faults = append(f.Faults, RuleFault{line, column, fmt.Sprintf(format, args...), guards})
	case n == maxFaults:
		f.Faults = append(f.Faults, RuleFault{line, column, "more is wrong from here on", guards})
	default:
		f.Faults[maxFaults].Guards = f.Faults[maxFaults].Guards || guards
	}
}

// JSONRules reads the key permissions of a settings file.
func JSONRules(data []byte) (f RuleFile) {
	doc := SplitSettings(data)
	for _, sec := range doc.Sections {
		if sec.Key != "permissions" {
			f.other(RuleLine{Text: sec.Key, Line: sec.Line, Column: sec.Column})
			continue
		}
		s := &scan{doc: doc, JSONWalk: doc.Walk(sec), f: &f}
		_ = s.permissions() // where it can't be read further the file can't
	}
	if w := doc.Fault; w != nil {
		f.fault("", w.Line, w.Column, "%s", w.Text)
	}
	return f
}

// scan reads the value of permissions, with positions.
type scan struct {
	*JSONWalk
	doc *Settings
	f   *RuleFile
}

// next is the next token and the byte where it begins.
func (s *scan) next() (t json.Token, at int, err error) {
	at = s.Ahead()
	t, err = s.Next()
	return t, at, err
}

func (s *scan) fault(list string, at int, format string, args ...any) {
	line, column := s.doc.Place(at)
	s.f.fault(list, line, column, format, args...)
}

func (s *scan) permissions() error {
	t, at, err := s.next()
	if err != nil {
		return err
	}
	if t == nil { // null counts as missing
		return nil
	}
	if t != json.Delim('{') {
		s.fault("", at, "permissions is an object: { … }")
		return s.Rest(t)
	}
	return s.Object(func(key string, at int) error {
		if slices.Contains(RuleLists, key) {
			return s.list(key)
		}
		line, column := s.doc.Place(at)
		s.f.other(RuleLine{Text: "permissions." + key, Line: line, Column: column})
		return s.Skip()
	})
}

func (s *scan) list(key string) error {
	t, at, err := s.next()
	if err != nil {
		return err
	}
	if t == nil {
		return nil
	}
	if t != json.Delim('[') {
		s.fault(key, at, notList, key)
		return s.Rest(t)
	}
	for s.More() {
		t, at, err := s.next()
		if err != nil {
			return err
		}
		text, is := t.(string)
		if !is {
			s.fault(key, at, "a rule is a text, such as \"Bash(git push *)\"")
			if err := s.Rest(t); err != nil {
				return err
			}
			continue
		}
		line, column := s.doc.Place(at)
		s.f.add(RuleLine{key, text, line, column})
	}
	_, err = s.Next()
	return err
}

// TOMLRules reads the table permissions of a configuration.
func TOMLRules(data []byte) (f RuleFile) {
	p := unstable.Parser{}
	p.Reset(data)
	r := tables{f: &f, text: JSONOver(data)}
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		var keys []string
		var first unstable.Range
		for it := e.Key(); it.Next(); {
			if n := it.Node(); len(keys) == 0 {
				first = n.Raw
			}
			keys = append(keys, string(it.Node().Data))
		}
		name, at := strings.Join(keys, "."), int(first.Offset)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = name
			root, list, _ := strings.Cut(name, ".")
			switch {
			case name == "permissions":
			case root == "permissions" && slices.Contains(RuleLists, list):
				r.fault(list, at, notList, list)
			default:
				f.other(r.line("", root, at))
			}
			continue
		case unstable.KeyValue:
		default:
			continue
		}
		if table != "" {
			if table != "permissions" {
				continue
			}
			name = table + "." + name
		}
		r.value(name, e.Value(), at)
	}
	if err := p.Error(); err != nil {
		at, text := 0, err.Error()
		if e := (*unstable.ParserError)(nil); errors.As(err, &e) {
			at, text = int(p.Range(e.Highlight).Offset), e.Message
		}
		r.fault("", at, "%s", text)
	}
	return f
}

// tables reads tables, with positions.
type tables struct {
	f    *RuleFile
	text *JSONText
}

func (r tables) line(list, text string, at int) RuleLine {
	line, column := r.text.Place(at)
	return RuleLine{list, text, line, column}
}

func (r tables) fault(list string, at int, format string, args ...any) {
	line, column := r.text.Place(at)
	r.f.fault(list, line, column, format, args...)
}

// value adds the value of a key of that name.
func (r tables) value(name string, v *unstable.Node, at int) {
	list, is := strings.CutPrefix(name, "permissions.")
	first, _, deeper := strings.Cut(list, ".")
	switch {
	case name == "permissions" && v.Kind != unstable.InlineTable, is && deeper && slices.Contains(RuleLists, first):
		r.fault("", at, "permissions is a table with lists of rules: deny = [ … ]")
	case name == "permissions" && v.Kind == unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			kv := it.Node()
			for key := kv.Key(); key.Next(); {
				r.value(name+"."+string(key.Node().Data), kv.Value(), at)
				break
			}
		}
	case !is || !slices.Contains(RuleLists, list):
		r.f.other(r.line("", name, at))
	case v.Kind != unstable.Array:
		r.fault(list, at, notList, list)
	default:
		for it := v.Children(); it.Next(); {
			n := it.Node()
			place := at
			if n.Raw.Length > 0 {
				place = int(n.Raw.Offset)
			}
			switch n.Kind {
			case unstable.String:
				r.f.add(r.line(list, string(n.Data), place))
			case unstable.Comment:
			default:
				r.fault(list, place, "a rule is a text, such as \"Bash(git push *)\"")
			}
		}
	}
}
