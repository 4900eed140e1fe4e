package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Project is what a repository's file says that is written as config.toml is. All but its hooks is for others to heed, or
// nobody's.
type Project struct {
	Hooks map[string][]HookGroup

	Line, Column int // where it is wrong, from 1
}

// mostKeys are how many keys and lists such a file may have. What each of them costs grows with those before it.
const mostKeys = 5000

// ReadProject reads such a file. Keys that do not exist are no error: the file is not the user's.
func ReadProject(data []byte) (p Project, err error) {
	var of struct {
		Hooks map[string][]HookGroup `toml:"hooks"`
	}
	if n := bytes.Count(data, []byte("=")) + bytes.Count(data, []byte("[")); n > mostKeys {
		return p, fmt.Errorf("it has %d keys and lists, at most %d are read", n, mostKeys)
	}
	if err = toml.Unmarshal(data, &of); err != nil {
		var wrong *toml.DecodeError
		if errors.As(err, &wrong) {
			p.Line, p.Column = wrong.Position()
		}
		return p, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	p.Hooks = of.Hooks
	return p, nil
}
