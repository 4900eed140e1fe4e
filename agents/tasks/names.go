package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"fantail/agents/event"
	"fantail/store"
)

// NameForm is the form of names. They are ASCII so that no two can look alike.
var NameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,39}$`)

// birds are the names of tasks pushed without one.
var birds = [...]string{
	"wren", "robin", "finch", "kiwi", "tui", "heron", "kea", "swift", "lark", "owl", "crane", "dove", "ibis", "jay",
	"kite", "linnet", "martin", "osprey", "petrel", "quail", "raven", "snipe", "tern", "warbler", "plover", "merlin",
	"falcon", "egret", "dunlin", "curlew", "bunting", "avocet", "siskin", "pipit", "rook", "stilt", "teal", "gannet",
}

// reserved are words that would mislead as a name, and those that /agent uses, in any case.
var reserved = [...]string{
	"main", "user", "system", "human", "host", "assistant", "all", "you",
	"new", "list", "rename", "close", "config", OutsideName, OutsideMCP,
}

// reach says how to reach a living agent, to people and to models.
func reach(name string) string { return fmt.Sprintf("/send %s TEXT (tool send) reaches it", name) }

// NameFor returns the name of a new task or helper: the wanted one if it is free, or an unused one. An agent that
// ended under the wanted name keeps its tab and its mail as NAME·1, NAME·2 and so on; renamed, if not nil, is called
// with its new name after the commit.
func NameFor(tx *store.Tx, want string, renamed func(agent int64, name string)) (string, error) {
	if want == "" {
		return freeName(tx)
	}
	if !NameForm.MatchString(want) {
		return "", fmt.Errorf("the name %q does not do: it takes letters A to Z, digits, dot, dash and underscore, "+
			"a letter first, at most 40 of them", want)
	}
	for _, r := range reserved {
		if strings.EqualFold(want, r) {
			return "", fmt.Errorf("the name %q is reserved", want)
		}
	}
	if queued, err := tx.TaskQueued(want); err != nil {
		return "", err
	} else if queued {
		return "", fmt.Errorf("a task %q is queued or runs already; %s once it runs, /kill %s removes it",
			want, reach(want), want)
	}
	old, ok, err := tx.AgentByName(want)
	if err != nil || !ok {
		return want, err
	}
	if !event.State(old.State).Terminal() {
		return "", fmt.Errorf("the agent %s is there already; %s", want, reach(want))
	}
	called := func(n int) string { return want + "·" + strconv.Itoa(n) }
	n, err := FirstFree(func(n int) (bool, error) {
		_, used, err := tx.AgentByName(called(n))
		return used, err
	})
	if err != nil {
		return "", err
	}
	aside := called(n)
	if err := tx.RenameAgent(old.ID, aside); err != nil {
		return "", err
	}
	if renamed != nil {
		tx.AfterCommit(func() { renamed(old.ID, aside) })
	}
	return want, nil
}

// PromptName returns the name of a new unattended conversation. The name is never used again, so that it can be
// continued by name.
func PromptName(v *store.View) (string, error) {
	last, err := store.LastAgent(v)
	return "prompt-" + strconv.FormatInt(last+1, 10), err
}

// freeName returns the name of a bird that no agent or task has yet, with a number if need be.
func freeName(tx *store.Tx) (string, error) {
	n, err := FirstFree(func(n int) (bool, error) {
		if queued, err := tx.TaskQueued(bird(n)); queued || err != nil {
			return true, err
		}
		_, used, err := tx.AgentByName(bird(n))
		return used, err
	})
	if err != nil {
		return "", err
	}
	return bird(n), nil
}

// bird returns the nth name, counted from 1.
func bird(n int) string {
	name := birds[(n-1)%len(birds)]
	if round := (n-1)/len(birds) + 1; round > 1 {
		name += strconv.Itoa(round)
	}
	return name
}

// FirstFree returns an unused number, from 1 on, with only a few probes per doubling. It is the first one if numbers
// are used in order; if some were skipped it may be a later one.
func FirstFree(used func(n int) (bool, error)) (int, error) {
	high := 1
	for {
		is, err := used(high)
		if err != nil {
			return 0, err
		}
		if !is {
			break
		}
		high *= 2
	}
	from := high/2 + 1 // high/2 is used
	var failed error
	n := sort.Search(high-from, func(i int) bool {
		is, err := used(from + i)
		failed = errors.Join(failed, err)
		return !is
	})
	return from + n, failed
}

// The words that say little about a task, and how much of the others a name takes.
const (
	littleWords = " a about after all also an and any are as at be before both but by can check could do does each every for from " +
		"get give has have how i if in into is it its just let like lets make me my need now of on or our out please should so some " +
		"take tell than that the their them then there these they this those through to too try up us use using want was we what when " +
		"where whether which who why will with without would you your "
	nameWords  = 3
	nameLength = 24
	nameReads  = 2 << 10 // bytes of the text
)

// NameFrom makes a short name from the telling words of a text: audit-retry-code. It returns "" if there are none.
func NameFrom(text string) string {
	text = text[:min(len(text), nameReads)]
	letter := func(r rune) bool { return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	var name []string
	var little string // the first word of little meaning, if there is no other
	length := 0
	for _, word := range strings.Fields(strings.ToLower(text)) {
		word = strings.TrimRight(word, "/.,:;!?)'\"`")
		if at := strings.LastIndexByte(word, '/'); at >= 0 {
			word, _, _ = strings.Cut(word[at+1:], ".") // of a path, the file's own name
		}
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !letter(r) && r < utf8.RuneSelf && r != '\'' }) {
			part, _, _ = strings.Cut(part, "'")
			switch {
			case part == "" || strings.ContainsFunc(part, func(r rune) bool { return !letter(r) }), slices.Contains(name, part):
			case len(name) == 0 && !unicode.IsLetter(rune(part[0])):
			case strings.Contains(littleWords, " "+part+" "):
				little = cmp.Or(little, part)
			case len(name) > 0 && length+1+len(part) > nameLength, len(name) == nameWords:
				return strings.Join(name, "-")
			default:
				part = part[:min(len(part), nameLength)]
				name = append(name, part)
				length += 1 + len(part)
			}
		}
	}
	return cmp.Or(strings.Join(name, "-"), little)
}

// spareName returns a name that no agent or task has yet: the suggested one, or that with a number.
func spareName(v *store.View, suggested string) (string, error) {
	called := func(n int) string {
		if n == 1 {
			return suggested
		}
		return suggested + "-" + strconv.Itoa(n)
	}
	if slices.ContainsFunc(reserved[:], func(r string) bool { return strings.EqualFold(r, suggested) }) {
		return unused(v, func(n int) string { return called(n + 1) })
	}
	return unused(v, called)
}

// ForkName returns the name of the next fork: NAME-fork-1, NAME-fork-2, … No number is used twice, so that a name
// means one message for ever.
func ForkName(v *store.View, of string) (string, error) {
	return unused(v, func(n int) string { return fmt.Sprintf("%s-fork-%d", of, n) })
}

// BranchName returns a free name derived from another: oauth-2, oauth-3; or "" if that would be too long.
func BranchName(v *store.View, of string) (string, error) {
	called := func(n int) string { return fmt.Sprintf("%s-%d", of, n+1) }
	if !NameForm.MatchString(called(1_000_000)) {
		return "", nil
	}
	return unused(v, called)
}

// unused returns the first of numbered names that neither an agent nor a queued task has.
func unused(v *store.View, called func(n int) string) (string, error) {
	n, err := FirstFree(func(n int) (bool, error) {
		if queued, err := v.TaskQueued(called(n)); queued || err != nil {
			return true, err
		}
		_, used, err := v.AgentByName(called(n))
		return used, err
	})
	return called(n), err
}
