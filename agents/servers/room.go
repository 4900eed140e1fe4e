package servers

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"syscall"

	"fantail/agents/trust"
	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/tools/secret"
)

// Settings are where servers are configured.
type Settings struct {
	Root  string      // the workspace, absolute and resolved
	Home  string      // the user's; "": there is none
	Trust *trust.Room // what the user agreed to of the workspace's, which comes to know of these; nil: nothing
	// Config are those of the user's configuration, as it is now; nil: it has none.
	Config func() []config.Server
	Env    func(name string) (string, bool) // what ${NAME} stands for
	Keys   *secret.Keys                     // what no server of the workspace is handed
}

// Room has the servers of one workspace. It is safe for concurrent use; nil has none.
type Room struct {
	s     Settings
	files []file
	left  string // why Claude Code's directory is not the one that its variable names; "": it is

	mu     sync.Mutex
	begun  int // how often the files were looked at, and the last time of which the outcome is kept
	kept   int
	read   bool
	stamps []fs.FileInfo // of the files as they were read
	config []config.Server
	now    Listing
}

// file is a file that is read.
type file struct {
	Source
	path string
	most int64
}

// New returns the servers of a workspace. Nothing is read before somebody asks.
func New(s Settings) *Room {
	r := &Room{s: s}
	f, is, left := s.claudes()
	if is {
		r.files = append(r.files, f)
	}
	r.left = left
	r.files = append(r.files, file{project, filepath.Join(s.Root, ".mcp.json"), mostProject})
	s.Trust.Add(trust.Source{
		Kind: Kind, Parts: r.parts,
		About: "MCP servers start once an agent needs their tools, and get what it hands to them; one at an address is reached without a sandbox.",
	})
	return r
}

// Matters reports whether a file of that name in the workspace may say where servers are.
func Matters(name string) bool { return name == project.Name }

// List is what the sources hold now. Files that did not change are not read again.
func (r *Room) List() Listing {
	if r == nil {
		return Listing{}
	}
	var rows []config.Server
	if r.s.Config != nil {
		rows = r.s.Config()
	}
	r.mu.Lock()
	r.begun++
	nth, was, read, stamps, config := r.begun, r.now, r.read, r.stamps, r.config
	r.mu.Unlock()
	is := r.look()
	if read && slices.EqualFunc(is, stamps, same) && reflect.DeepEqual(rows, config) {
		return was
	}
	var l Listing
	r.configured(rows, &l)
	for _, f := range r.files {
		r.load(f, &l)
	}
	if r.left != "" {
		l.Ignored = append(l.Ignored, Fault{claudeDir, "it is not followed: " + r.left})
	}
	l.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	if nth > r.kept { // else one that began later is done already
		r.kept, r.read, r.stamps, r.config, r.now = nth, true, is, rows, l
	}
	return l
}

// look looks at the files, and into none.
func (r *Room) look() []fs.FileInfo {
	stamps := make([]fs.FileInfo, len(r.files))
	for n, f := range r.files {
		stamps[n], _ = os.Stat(f.path)
	}
	return stamps
}

// same reports whether a file is as it was.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// configured takes in the rows of the user's configuration, which was read strictly.
func (r *Room) configured(rows []config.Server, to *Listing) {
	for _, row := range rows {
		call, _ := row.Call()
		e := Entry{Source: configuration, Written: mcp.Server{
			Name: row.Name, Own: true, Place: put(configuration.Name, row.Line, 0), Command: row.Command, Args: row.Args, Env: row.Env,
			URL: row.URL, Headers: row.Headers, Client: row.Client, Timeout: call, Honest: row.Honest,
			Sampling: row.Sampling, Port: row.RedirectPort,
		}}
		e.Server = e.Written
		var bad *wrongText
		switch secret, set := r.env(row.SecretEnv); {
		case row.Disabled:
			e.Out = "it is switched off there"
		case row.SecretEnv != "" && !set:
			bad = &wrongText{"secret_env", fmt.Errorf("the variable %s is not set", row.SecretEnv)}
		default:
			e.Written.Secret = secret
			bad = e.fill(r.env, r.s.Keys)
		}
		if bad != nil {
			e.Out = bad.key + ": " + bad.err.Error()
			to.Faults = append(to.Faults, Fault{e.Place, e.Name + ": " + e.Out})
		}
		to.Entries = append(to.Entries, e)
	}
}

func (r *Room) env(name string) (string, bool) {
	if r.s.Env == nil || name == "" {
		return "", false
	}
	return r.s.Env(name)
}

// load reads a file; one that is not there holds nothing.
func (r *Room) load(f file, to *Listing) {
	d := &reader{source: f.Source, to: to, env: r.env, keys: r.s.Keys}
	open, err := f.open(r.s.Root)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			to.Faults = append(to.Faults, Fault{f.Name, err.Error()})
		}
		return
	}
	defer open.Close()
	switch i, err := open.Stat(); {
	case err != nil:
		to.Faults = append(to.Faults, Fault{f.Name, err.Error()})
	case !i.Mode().IsRegular():
		to.Faults = append(to.Faults, Fault{f.Name, "it is no regular file"})
	case i.Size() > f.most:
		to.Faults = append(to.Faults, Fault{f.Name, fmt.Sprintf("it has %d bytes, at most %d are read", i.Size(), f.most)})
	default:
		d.read(io.LimitReader(open, f.most))
	}
}

// open opens a file; the workspace's, only if no link leads out of it.
func (f file) open(root string) (*os.File, error) {
	if f.Own {
		open, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrPermission) {
			return nil, errors.New("it can't be read: you have no permission")
		}
		if err != nil {
			return nil, fs.ErrNotExist // the user's home may be anything
		}
		return open, nil
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer dir.Close()
	open, err := dir.OpenFile(f.Name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		return open, nil
	}
	if _, leads := dir.Readlink(f.Name); leads == nil {
		return nil, errors.New("it is a link out of the workspace, or to nothing: it is not read")
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, errors.New("it can't be read: you have no permission")
	}
	return nil, fs.ErrNotExist
}

// Servers are those that are used, in their order; who starts one asks Allowed.
func (r *Room) Servers() []mcp.Server { return r.List().Used() }

// parts are the workspace's servers as what is to be trusted.
func (r *Room) parts() []trust.Part { return r.List().Parts() }

// Standing is how the user stands to a server as it is on the disk now; to one of their own, they agree.
func (r *Room) Standing(e Entry) trust.Standing {
	switch {
	case e.Source.Own:
		return trust.Agreed
	case r == nil:
		return trust.New
	}
	_, is := r.s.Trust.Look(e.part())
	return is
}

// Allowed says why a server may not start; nil: it may. What the workspace brings may as long as the user agrees to it as
// it is on the disk now.
func (r *Room) Allowed(s mcp.Server) error {
	if r == nil {
		return errors.New("no servers are configured")
	}
	e, known := r.List().Find(s.Name)
	s.Place = e.Place // which may have moved
	switch {
	case !known || !e.Used() || !reflect.DeepEqual(e.Server, s):
		return fmt.Errorf("what configures the server %s has changed", s.Name)
	case e.Source.Own:
		return nil
	}
	switch snap, is := r.s.Trust.Look(e.part()); {
	case snap.Fault != nil:
		return fmt.Errorf("the server %s of %s can't be trusted: %w", e.Name, e.Source.Name, snap.Fault)
	case is != trust.Agreed:
		return fmt.Errorf("the server %s of %s is %v: /trust shows it and asks", e.Name, e.Source.Name, is)
	}
	return nil
}
