package mcpconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"

	"fantail/agents/hooks"
	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/tools/secret"
)

// Settings are where servers are configured.
type Settings struct {
	Root  string            // the workspace, absolute and resolved
	Home  string            // the user's; "": there is none
	Trust *hooks.TrustStore // the user's agreement to the workspace's servers, which are added to it; nil: none may start
	// Config returns the servers of the user's configuration, as it is now; nil: it has none.
	Config func() []config.Server
	Env    func(name string) (string, bool) // the value of ${NAME}
	Keys   *secret.Keys                     // keys that no server of the workspace gets
}

// Servers manages the configured servers of one workspace. It is safe for concurrent use; nil has none.
type Servers struct {
	s     Settings
	files []file
	left  string // why Claude Code's directory is not the one that its variable names; "": it is

	mu     sync.Mutex
	begun  int // counts looks at the files, and the look whose result is stored
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

// New returns the servers of a workspace. It reads nothing yet.
func New(s Settings) *Servers {
	r := &Servers{s: s}
	f, is, left := s.claudes()
	if is {
		r.files = append(r.files, f)
	}
	r.left = left
	r.files = append(r.files, file{project, filepath.Join(s.Root, ".mcp.json"), maxProject})
	s.Trust.Add(hooks.TrustSource{
		Kind: Kind, Parts: r.parts,
		About: "MCP servers start once an agent needs their tools, and get what it hands to them; one at an address is reached without a sandbox.",
	})
	return r
}

// Matters reports whether a file of that name in the workspace may configure servers.
func Matters(name string) bool { return name == project.Name }

// List returns the servers that the sources configure now. It does not read unchanged files again.
func (r *Servers) List() Listing {
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
	if nth > r.kept { // otherwise one that began later is done already
		r.kept, r.read, r.stamps, r.config, r.now = nth, true, is, rows, l
	}
	return l
}

// look returns the files' stamps, without reading them.
func (r *Servers) look() []fs.FileInfo {
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

// configured adds the servers of the user's configuration, which was read strictly.
func (r *Servers) configured(rows []config.Server, to *Listing) {
	for _, row := range rows {
		call, _ := row.Call()
		e := Entry{Source: configuration, Written: mcp.Server{
			Name: strings.TrimSpace(row.Name), Own: true, Place: put(configuration.Name, row.Line, 0), Command: row.Command, Args: row.Args, Env: row.Env,
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

func (r *Servers) env(name string) (string, bool) {
	if r.s.Env == nil || name == "" {
		return "", false
	}
	return r.s.Env(name)
}

// load reads a file; a missing one is empty.
func (r *Servers) load(f file, to *Listing) {
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

// open opens a file. It opens one of the workspace only if no link leads out of it.
func (f file) open(root string) (*os.File, error) {
	if f.Own {
		open, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrPermission) {
			return nil, errors.New("it can't be read: you have no permission")
		}
		if err != nil {
			return nil, fs.ErrNotExist // the user's home may hold any kind of file
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

// Servers returns the servers that are used, in their order. Before one is started, Allowed must permit it.
func (r *Servers) Servers() []mcp.Server { return r.List().Used() }

// parts returns the workspace's servers as parts that the user can trust.
func (r *Servers) parts() []hooks.TrustPart { return r.List().Parts() }

// Standing returns the user's answer to a server as it is on disk now; their own servers count as agreed.
func (r *Servers) Standing(e Entry) hooks.TrustState {
	switch {
	case e.Source.Own:
		return hooks.Agreed
	case r == nil:
		return hooks.NewTrust
	}
	_, is := r.s.Trust.Look(e.part())
	return is
}

// Allowed says why a server may not start; nil: it may. A server of the workspace may start as long as the user agrees
// to it as it is on disk now.
func (r *Servers) Allowed(s mcp.Server) error {
	if r == nil {
		return errors.New("no servers are configured")
	}
	e, known := r.List().Find(s.Name)
	s.Place = e.Place // the place may have changed
	switch {
	case !known || !e.Used() || !reflect.DeepEqual(e.Server, s):
		return fmt.Errorf("what configures the server %s has changed", s.Name)
	case e.Source.Own:
		return nil
	}
	switch snap, is := r.s.Trust.Look(e.part()); {
	case snap.Fault != nil:
		return fmt.Errorf("the server %s of %s can't be trusted: %w", e.Name, e.Source.Name, snap.Fault)
	case is != hooks.Agreed:
		return fmt.Errorf("the server %s of %s is %v: /trust shows it and asks", e.Name, e.Source.Name, is)
	}
	return nil
}
