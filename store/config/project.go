package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Project is the content of a repository's file in the format of config.toml. It only has the hooks: other keys are
// ignored here.
type Project struct {
	Hooks map[string][]HookGroup
	Odd   []byte // the hooks as JSON, if one of them has another form; else nil

	Line, Column int // where it is wrong, from 1
}

// maxKeys bounds the keys and lists of such a file. The cost of each grows with the number of those before it.
const maxKeys = 5000

// ReadProject reads such a file. Keys that do not exist are no error: the file is not the user's.
func ReadProject(data []byte) (p Project, err error) {
	var of struct {
		Hooks map[string][]HookGroup `toml:"hooks"`
	}
	if n := bytes.Count(data, []byte("=")) + bytes.Count(data, []byte("[")); n > maxKeys {
		return p, fmt.Errorf("it has %d keys and lists, at most %d are read", n, maxKeys)
	}
	if err = toml.Unmarshal(data, &of); err != nil {
		var loose struct {
			Hooks any `toml:"hooks"`
		}
		if toml.Unmarshal(data, &loose) == nil {
			p.Odd, err = json.Marshal(loose.Hooks)
			return p, err
		}
		var wrong *toml.DecodeError
		if errors.As(err, &wrong) {
			p.Line, p.Column = wrong.Position()
		}
		return p, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	p.Hooks = of.Hooks
	return p, nil
}
