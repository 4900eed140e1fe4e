package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// parse decodes strictly: a key that does not exist is an error.
func parse(path string, data []byte, c *Config) error {
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(c)
	var missing *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing):
		var lines []error
		for i := range missing.Errors {
			e := &missing.Errors[i]
			row, _ := e.Position()
			lines = append(lines, fmt.Errorf("%s:%d: %s", path, row, unknown(e.Key())))
		}
		return errors.Join(lines...)
	case errors.As(err, &wrong):
		row, _ := wrong.Position()
		at := ""
		if key := strings.Join(wrong.Key(), "."); key != "" {
			at = key + ": "
		}
		return fmt.Errorf("%s:%d: %s%s", path, row, at, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "toml: "))
}

// unknown is the error text for an unknown key.
func unknown(key []string) string {
	written, last := strings.Join(key, "."), key[len(key)-1]
	if l := strings.ToLower(last); l == "api_key" || l == "key" || l == "token" || l == "secret" || l == "apikey" {
		if key[0] == "mcp" {
			return fmt.Sprintf("unknown key %q: keys do not belong in this file; env and headers may name a variable that holds one: ${NAME}", written)
		}
		return fmt.Sprintf("unknown key %q: keys do not belong in this file; put the key in an environment variable and name that variable with key_env", written)
	}
	known := keysOf(reflect.TypeFor[Config](), key[:len(key)-1])
	if meant := Nearest(last, known); meant != "" {
		return fmt.Sprintf("unknown key %q; did you mean %q?", written, strings.Join(append(key[:len(key)-1:len(key)-1], meant), "."))
	}
	if len(known) == 0 {
		return fmt.Sprintf("unknown key %q", written)
	}
	return fmt.Sprintf("unknown key %q; the keys here are %s", written, strings.Join(known, ", "))
}

// keysOf lists the keys of the table at path; nil if there is no such table.
func keysOf(t reflect.Type, path []string) []string {
	for _, step := range path {
		switch t.Kind() {
		case reflect.Map:
			t = t.Elem()
			continue
		case reflect.Struct:
		default:
			return nil
		}
		found := false
		for _, f := range reflect.VisibleFields(t) {
			if f.Tag.Get("toml") == step {
				t, found = f.Type, true
				break
			}
		}
		if !found {
			return nil
		}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var keys []string
	for _, f := range reflect.VisibleFields(t) {
		if key := f.Tag.Get("toml"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// lineOf finds the line of a key, or that of the nearest table above it. It is for messages: a key in an unusual form
// gets its table's line.
func lineOf(data []byte, key []string) int {
	line, table := 1, ""
	want := strings.Join(key, ".")
	best := 0
	for row := range strings.SplitSeq(string(data), "\n") {
		row = strings.NewReplacer(`"`, "", "'", "").Replace(strings.TrimSpace(row))
		switch name, _, assigned := strings.Cut(row, "="); {
		case strings.HasPrefix(row, "["):
			table = strings.Trim(strings.TrimSpace(strings.SplitN(row, "#", 2)[0]), "[] ")
			if table == want || strings.HasPrefix(want, table+".") && best == 0 {
				best = line
			}
		case assigned:
			full := strings.TrimSpace(name)
			if table != "" {
				full = table + "." + full
			}
			if full == want {
				return line
			}
		}
		line++
	}
	return max(best, 1)
}
