package config

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Project is what a repository's file says that is written as config.toml is. All but its hooks is for others to heed, or
// nobody's.
type Project struct {
	Hooks map[string][]HookGroup
	Keys  []string // that stand at its top, in the order of the alphabet

	Line, Column int // where it is wrong, from 1

	data []byte
}

// ReadProject reads such a file. Keys that do not exist are no error: the file is not the user's.
func ReadProject(data []byte) (p Project, err error) {
	p.data = data
	var all map[string]any
	var of struct {
		Hooks map[string][]HookGroup `toml:"hooks"`
	}
	if err = toml.Unmarshal(data, &all); err == nil {
		err = toml.Unmarshal(data, &of)
	}
	if err != nil {
		var wrong *toml.DecodeError
		if errors.As(err, &wrong) {
			p.Line, p.Column = wrong.Position()
		}
		return p, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	p.Hooks, p.Keys = of.Hooks, slices.Sorted(maps.Keys(all))
	return p, nil
}

// LineOf finds the line that a key, or its first table, stands on, as well as can be told; from 1.
func (p Project) LineOf(key string) int {
	for n, row := range strings.Split(string(p.data), "\n") {
		word := strings.TrimLeft(strings.TrimSpace(row), "[\"' ")
		rest, is := strings.CutPrefix(word, key)
		if rest = strings.TrimLeft(rest, "\"' "); is && (rest == "" || strings.ContainsRune("=.]", rune(rest[0]))) {
			return n + 1
		}
	}
	return 1
}
