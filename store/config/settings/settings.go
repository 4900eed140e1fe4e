// Package settings reads a settings file, such as Claude Code keeps as JSON, once for all who want a part of it.
//
// Does: read the small regular file of a workspace or of the user; cut it into the sections that stand at its top, with
// their places, as far as it can be read; name what no workspace's file may set, and why.
//
// Does not: know what a section means, follow a link out of a workspace.
//
// Imports: store/config/walk.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"fantail/store/config/walk"
)

const (
	most         = 1 << 20 // bytes of a file
	mostSections = 1000    // keys at its top
)

// Open returns the bytes of the file below root, which no link leads out of; nil: there is none.
func Open(root, name string) ([]byte, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, plain(err)
	}
	defer r.Close()
	f, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return read(f, err)
}

// Read returns the bytes of the file at a path, wherever links lead; nil: there is none.
func Read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return read(f, err)
}

func read(f *os.File, err error) ([]byte, error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
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
	return data, plain(err)
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

// Section is a key at the top of a file, and what it holds.
type Section struct {
	Key          string
	Line, Column int    // of the key, from 1
	At           int    // where the value begins, in bytes
	Value        []byte // as it is written; of one that is Cut, all that follows
	Cut          bool   // the file can't be read to the value's end
}

// Fault is what is wrong at a place.
type Fault struct {
	Line, Column int
	Text         string
}

// Doc is a file in sections.
type Doc struct {
	Sections []Section // in their order
	Fault    *Fault    // where it could not be read further; nil: it could

	data []byte
	text *walk.Text
}

// Split cuts a file into sections. One that is empty has none.
func Split(data []byte) *Doc {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d := &Doc{data: data, text: walk.Over(data)}
	if len(bytes.TrimSpace(data)) == 0 {
		return d
	}
	w := d.text.Walk(0, len(data))
	if err := d.top(w); err != nil {
		line, column := d.Place(w.Ahead())
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file ends in the middle")
		}
		d.Fault = &Fault{line, column, strings.TrimPrefix(err.Error(), "json: ")}
	}
	return d
}

// Place is the place of a byte, from 1.
func (d *Doc) Place(at int) (line, column int) { return d.text.Place(at) }

// Walk goes through what a section holds.
func (d *Doc) Walk(s Section) *walk.Walk { return d.text.Walk(s.At, s.At+len(s.Value)) }

func (d *Doc) top(w *walk.Walk) error {
	t, err := w.Next()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return errors.New("settings are an object: { … }")
	}
	return w.Object(func(key string, at int) error {
		if len(d.Sections) == mostSections {
			return fmt.Errorf("there are more than %d keys: what follows is not read", mostSections)
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
}

// users are what no workspace's file sets, whatever the user agreed to, and why.
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

// Users says why a key, dotted below the top, is the user's to set and no workspace's file's; "" if it is not known to be.
func Users(key string) string { return users[key] }
