package config

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	most        = 1 << 20 // bytes of a file
	maxSections = 1000    // keys at its top
)

// OpenSettings returns the bytes of the file below root, which no link leads out of; nil: there is none.
func OpenSettings(root, name string) ([]byte, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, plain(err)
	}
	defer r.Close()
	f, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return readSettings(f, err, name, r.Lstat)
}

// ReadSettings returns the bytes of the file at a path, wherever links lead; nil: there is none.
func ReadSettings(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return readSettings(f, err, path, os.Lstat)
}

func readSettings(f *os.File, err error, name string, lstat func(string) (fs.FileInfo, error)) ([]byte, error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, dangling(name, lstat)
	}
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	switch i, err := f.Stat(); {
	case err != nil:
		return nil, plain(err)
	case !i.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case i.Size() > most:
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", i.Size(), most)
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, plain(err)
	}
	return decoded(data)
}

// dangling returns an error if a missing file's path has a link that leads nowhere.
func dangling(name string, lstat func(string) (fs.FileInfo, error)) error {
	for ; name != "." && name != filepath.Dir(name); name = filepath.Dir(name) {
		i, err := lstat(name)
		if err != nil {
			continue
		}
		if i.Mode()&fs.ModeSymlink != 0 {
			return errors.New("it is a link that leads nowhere")
		}
		return nil
	}
	return nil
}

// decoded is a text in UTF-8, without a byte order mark.
func decoded(data []byte) ([]byte, error) {
	var order binary.ByteOrder
	switch {
	case len(data) < 2:
	case data[0] == 0xff && data[1] == 0xfe:
		order, data = binary.LittleEndian, data[2:]
	case data[0] == 0xfe && data[1] == 0xff:
		order, data = binary.BigEndian, data[2:]
	case data[1] == 0:
		order = binary.LittleEndian
	case data[0] == 0:
		order = binary.BigEndian
	}
	if order != nil {
		units := make([]uint16, 0, len(data)/2)
		for i := 0; i+1 < len(data); i += 2 {
			units = append(units, order.Uint16(data[i:]))
		}
		text := string(utf16.Decode(units))
		if len(data)%2 != 0 || strings.ContainsRune(text, utf8.RuneError) {
			return nil, errors.New("it is no valid UTF-16: save it as UTF-8")
		}
		return []byte(text), nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, errors.New("it is neither UTF-8 nor UTF-16: save it as UTF-8")
	}
	return data, nil
}

// plain is an error without the path that its reader names anyway.
func plain(err error) error {
	e := (*fs.PathError)(nil)
	switch {
	case !errors.As(err, &e):
		return err
	case strings.Contains(e.Err.Error(), "escapes"):
		return errors.New("it is a link that escapes the workspace: it is not read")
	}
	return e.Err
}

// BareJSON is JSON with blanks for comments and for trailing commas, in UTF-8 where it was valid.
func BareJSON(data []byte) []byte {
	if text, err := decoded(data); err == nil {
		data = text
	}
	return uncommented(bytes.TrimPrefix(data, []byte("\ufeff")))
}

// Section is a key at the top of a file, with its value.
type Section struct {
	Key          string
	Line, Column int    // of the key, from 1
	At           int    // where the value begins, in bytes
	Value        []byte // as written; if it is Cut, the rest of the file
	Cut          bool   // the file can't be read to the value's end
}

// SettingsFault is an error at a place.
type SettingsFault struct {
	Line, Column int
	Text         string
}

// Settings is a file in sections.
type Settings struct {
	Sections []Section      // in their order
	Fault    *SettingsFault // where it could not be read further; nil: it could

	data    []byte    // without comments
	text    *JSONText // over data
	written *JSONText // the text as written, for positions
}

// SplitSettings splits a file into sections. A file that is empty, except for comments, has none.
func SplitSettings(data []byte) *Settings {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	bare := uncommented(data)
	d := &Settings{data: bare, text: JSONOver(bare), written: JSONOver(data)}
	if len(bytes.TrimSpace(bare)) == 0 {
		return d
	}
	w := d.text.Walk(0, len(bare))
	if err := d.top(w); err != nil {
		line, column := d.Place(w.Ahead())
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file ends in the middle")
		}
		d.Fault = &SettingsFault{line, column, strings.TrimPrefix(err.Error(), "json: ")}
	}
	return d
}

// uncommented replaces comments and trailing commas of a list or an object by blanks, so that every other byte keeps
// its position. A comment that never ends stays: it makes the JSON invalid.
func uncommented(data []byte) []byte {
	out := bytes.Clone(data)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	comma := -1 // the last comma, as long as only blanks and comments follow
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch rest := data[i:]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == ',':
			comma = i
		case (c == ']' || c == '}') && comma >= 0:
			blank(comma, comma+1)
			comma = -1
		case c == '"':
			comma = -1
			for i++; i < len(data) && data[i] != '"' && data[i] != '\n'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			blank(i, i+n)
			i += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return out
			}
			blank(i, i+n+4)
			i += n + 3
		default:
			comma = -1
		}
	}
	return out
}

// Place is the place of a byte, from 1.
func (d *Settings) Place(at int) (line, column int) { return d.written.Place(at) }

// Walk goes through the value of a section.
func (d *Settings) Walk(s Section) *JSONWalk { return d.text.Walk(s.At, s.At+len(s.Value)) }

func (d *Settings) top(w *JSONWalk) error {
	t, err := w.Next()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return errors.New("settings are an object: { … }")
	}
	err = w.Object(func(key string, at int) error {
		if len(d.Sections) == maxSections {
			return fmt.Errorf("there are more than %d keys: what follows is not read", maxSections)
		}
		s := Section{Key: key, At: w.Ahead()}
		s.Line, s.Column = d.Place(at)
		err := w.Skip()
		end := w.Passed()
		if s.Cut = err != nil; s.Cut {
			end = len(d.data)
		}
		s.Value = d.data[min(s.At, end):end]
		d.Sections = append(d.Sections, s)
		return err
	})
	if err != nil {
		return err
	}
	if end := w.Passed(); len(bytes.TrimSpace(d.data[end:])) > 0 {
		return errors.New("something follows behind the end: it is not read")
	}
	return nil
}

// users are keys that no workspace's file may set, even if the user agreed, and why.
var users = map[string]string{
	"env": "it would set the environment of commands", "statusLine": "it names a program that draws", "model": "the model is the user's",
	"apiKeyHelper": helper, "awsAuthRefresh": helper, "awsCredentialExport": helper, "otelHeadersHelper": helper,
	"enableAllProjectMcpServers": servers, "enabledMcpjsonServers": servers, "providers": prompts, "base_url": prompts, "baseUrl": prompts,
	"agents": "it names programs that act as agents", "permission_mode": "the mode is the user's", "sandbox": "the sandbox is the user's",
	"editor": "it names a program that runs as the user", "mcp": "a workspace's servers stand in .mcp.json",
	"forceLoginMethod": "logins are the user's", "permissions.disableBypassPermissionsMode": "the mode is the user's",
}

const (
	helper  = "it names a program that hands out keys"
	servers = "it would start servers unasked"
	prompts = "it says where prompts go"
)

// UsersSetting says why only the user may set a key, dotted below the top, and no workspace's file; "" if there is no
// such reason.
func UsersSetting(key string) string { return users[key] }
