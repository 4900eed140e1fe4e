package permission

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// widening is the head of rules that add to the sandbox of commands.
const widening = "sandbox"

// Leave is what rules add to the sandbox of every command.
type Leave struct {
	Write   []string // files and directories that it may change, absolute
	Network bool
}

// WriteRule is the rule that lets every command change path and everything below.
func WriteRule(path string) Rule { return Rule(widening + "(write " + path + ")") }

// NetworkRule adds the network: all of it, and the servers of this machine.
const NetworkRule Rule = widening + "(network)"

// Widens reports whether the rule is about sandboxes.
func (r Rule) Widens() bool {
	p, err := r.parse()
	return err == nil && p.kind == Widen
}

// Adds is what the rule alone adds to a sandbox in the workspace root.
func (r Rule) Adds(root string) Leave {
	p, err := r.parse()
	if err != nil || p.kind != Widen {
		return Leave{}
	}
	return leaveOf([]parsed{p}, root)
}

// parseLeave parses the text in the parentheses of such a rule.
func parseLeave(body string) (parsed, error) {
	body = strings.TrimSpace(body)
	p := parsed{kind: Widen, text: Rule(widening + "(" + body + ")")}
	path, writes := strings.CutPrefix(body, "write ")
	switch path = strings.TrimSpace(path); {
	case body == "network":
	case !writes || path == "":
		return p, errors.New("it adds network, or write PATH")
	case strings.HasPrefix(path, "~"):
		return p, errors.New("~ is not expanded; write the whole path")
	case filepath.Clean(path) == "/":
		return p, errors.New("it would let every command change the whole machine")
	default:
		p.where, p.text = filepath.Clean(path), WriteRule(filepath.Clean(path))
	}
	return p, nil
}

// Keep adds a rule for this session and all later ones of the workspace.
func (g *Gate) Keep(r Rule) error {
	p, err := r.parse()
	if err != nil {
		return err
	}
	p.kept = true
	g.mu.Lock()
	defer g.mu.Unlock()
	var seen bool
	if p.given, seen = g.offered[p.text]; !seen {
		p.given.since = time.Now()
	}
	delete(g.offered, p.text)
	rules := slices.DeleteFunc(slices.Clone(g.rules), func(old parsed) bool {
		if old.text != p.text || old.filed != "" {
			return false
		}
		p.lasts = old.lasts
		return true
	})
	g.rules = append(rules, p)
	return nil
}

// Grant is a current rule about sandboxes, and how long it lasts.
type Grant struct {
	Rule  Rule
	Lasts string // "in this session", "in this project", ByConfiguration
}

// Grants are the current additions to sandboxes.
func (g *Gate) Grants() (all []Grant) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, p := range g.rules {
		if p.kind != Widen {
			continue
		}
		lasts := "in this session"
		switch {
		case p.lasts:
			lasts = ByConfiguration
		case p.kept:
			lasts = "in this project"
		}
		all = append(all, Grant{p.text, lasts})
	}
	return all
}

// Revoke removes a rule that a human gave. The error lists the rules there are, or says that the rule belongs to a
// file.
func (g *Gate) Revoke(r Rule) error {
	p, err := r.parse()
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.rules, func(o parsed) bool { return o.text == p.text && o.filed == "" })
	if i < 0 {
		i = slices.IndexFunc(g.rules, func(o parsed) bool { return o.text == p.text })
	}
	switch {
	case i < 0 && p.kind == Widen:
		return fmt.Errorf("no sandbox was given %s; /sandbox lists what was", p.text)
	case i < 0:
		return fmt.Errorf("%s was not given; /permissions lists what was", p.text)
	case g.rules[i].lasts:
		return fmt.Errorf("%s stands in the configuration: take it out of allow there", p.text)
	case g.rules[i].filed != "":
		return fmt.Errorf("%s stands in %s: take it out there", p.text, g.rules[i].filed)
	}
	g.rules = slices.Delete(slices.Clone(g.rules), i, i+1)
	return nil
}

// Leave is what the current rules add to the sandbox of an action's command.
func (g *Gate) Leave(a Action) Leave {
	if a.Strict {
		return Leave{}
	}
	g.mu.RLock()
	rules := g.rules
	g.mu.RUnlock()
	return leaveOf(slices.DeleteFunc(slices.Clone(rules), func(p parsed) bool {
		return a.Mode != "" && !p.durable()
	}), a.Dir)
}

func leaveOf(rules []parsed, root string) (l Leave) {
	for _, p := range rules {
		switch {
		case p.kind != Widen:
		case p.where == "":
			l.Network = true
		case filepath.IsAbs(p.where):
			l.Write = append(l.Write, p.where)
		default:
			l.Write = append(l.Write, filepath.Join(root, p.where))
		}
	}
	return l
}

// decideWiden decides whether a command may run again with the addition that it needs.
func decideWiden(mode Mode, rules []parsed, a Action) Verdict {
	if mode == Yolo {
		return Verdict{Decision: Allow, Reason: "yolo mode"}
	}
	if slices.ContainsFunc(rules, func(p parsed) bool { return p.kind == Widen && p.text == a.Wants }) {
		return Verdict{Decision: Allow, Reason: "allowed by " + string(a.Wants)}
	}
	return Verdict{Decision: AskHuman, Reason: "wants what its sandbox keeps it from: " + string(a.Wants), Rule: a.Wants}
}
