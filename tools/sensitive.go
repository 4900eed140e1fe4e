package tools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fantail/tools/permit"
)

const (
	// maxNames bounds how many names of the workspace are looked at for secrets
	// that may have another name.
	maxNames = 100_000
	// maxPrivate bounds how many private files are compared by identity.
	maxPrivate = 4096
)

// wellKnown are the places of a home directory that hold secrets. They come
// before what else is found there by its name, so that a large browser profile
// leaves no room unfilled for a key.
var wellKnown = []string{
	".ssh", ".aws", ".gnupg", ".kube", ".azure", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".docker/config.json", ".config/gh",
	".config/gcloud", ".config/hub", ".config/rclone", ".config/git/credentials", ".env", ".vault-token", ".cargo/credentials", ".cargo/credentials.toml",
	".gem/credentials", ".m2/settings.xml", ".composer/auth.json", ".password-store", ".local/share/keyrings", ".oci", ".config/op", ".config/doctl",
}

// secrets are the files of the user's home directory and of the workspace that
// hold secrets by their names, by identity: another name of one is secret too.
func (e *Env) secrets() map[id]string {
	out := map[id]string{}
	add := func(p string, depth int) {
		ids := map[id]bool{}
		identities(p, depth, "", ids)
		for i := range ids {
			out[i] = p
		}
	}
	if home := e.home(); home != "" {
		for _, d := range wellKnown {
			add(filepath.Join(home, d), 3)
		}
		names, _ := os.ReadDir(home)
		for _, n := range names {
			if p := filepath.Join(home, n.Name()); p != e.Root && permit.Sensitive(n.Name()) != "" && len(out) < maxPrivate {
				add(p, 1)
			}
		}
	}
	left := maxNames
	e.secretNames(e.Root, "", &left, out)
	if t := filepath.Join(e.Root, ".git/config"); e.holds(target{abs: t}) != "" {
		add(t, 0)
	}
	return out
}

// secretNames adds the files below dir whose names are those of secrets. What git
// and package managers keep is left out.
func (e *Env) secretNames(dir, rel string, left *int, out map[id]string) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if *left--; *left < 0 {
			return
		}
		p, r := filepath.Join(dir, d.Name()), filepath.Join(rel, d.Name())
		switch {
		case d.IsDir() && d.Name() != ".git" && d.Name() != "node_modules":
			e.secretNames(p, r, left, out)
		case d.Type().IsRegular() && permit.SensitiveFile(r) != "":
			if fi, err := d.Info(); err == nil && links(fi) > 1 {
				out[identity(fi)] = p
			}
		}
	}
}

// sensitive says why the target is sensitive: by its name, because it is another
// name of a file that is, or by how it begins.
func (e *Env) sensitive(t target) string {
	name := t.abs
	if t.inside {
		name = t.rel
	}
	if why := permit.Sensitive(name); why != "" {
		return why
	}
	if t.tilde {
		if why := permit.Sensitive(t.raw[1:]); why != "" {
			return why
		}
	}
	if t.forbidden != "" {
		return ""
	}
	fi, err := os.Lstat(t.abs)
	if err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	if why := permit.SensitiveFile(name); why != "" {
		return why
	}
	if links(fi) > 1 {
		if p, ok := e.secrets()[identity(fi)]; ok {
			return "secrets: it is another name of a file of " + p
		}
	}
	return e.holds(t)
}

// holds says which secrets a regular file holds by how it begins. A file that
// can't be opened holds none for us; the kernel's own are not touched.
func (e *Env) holds(t target) string {
	for _, d := range []string{"/proc", "/sys", "/dev"} {
		if _, in := below(d, t.abs); in {
			return ""
		}
	}
	dir, err := e.holdDir(filepath.Dir(t.abs), false)
	if err != nil {
		return ""
	}
	defer dir.Close()
	f, _, err := openIn(dir, filepath.Base(t.abs), e.privateIDs())
	if err != nil {
		return ""
	}
	defer f.Close()
	return holdsSecrets(f, t.abs)
}

// holdsSecrets judges a file that is open by how it begins; where it is read
// from does not change.
func holdsSecrets(f *os.File, name string) string {
	head := make([]byte, permit.HeadOf(name))
	n, _ := f.ReadAt(head, 0)
	return permit.HoldsSecrets(name, head[:n])
}

// errSecret says that a file was not seen to hold secrets when its path was judged.
var errSecret = errors.New("the file holds secrets now that it did not hold a moment ago; try again, then the user is asked")

// secret reports whether an entry's content is passed over, and counts it. f is
// the file, nil if it is not open. What the human allowed by naming a sensitive
// directory is not.
func (w *walk) secret(en entry, fi fs.FileInfo, f *os.File) bool {
	if w.from.sensitive != "" {
		return false
	}
	abs := filepath.Join(w.from.abs, en.rel)
	switch {
	case permit.SensitiveFile(en.show) != "":
	case w.otherName(fi):
	case f != nil && holdsSecrets(f, abs) != "":
	default:
		return false
	}
	w.sensitive++
	return true
}

// otherName reports whether a file is another name of one that is secret.
func (w *walk) otherName(fi fs.FileInfo) bool {
	if fi == nil || links(fi) < 2 {
		return false
	}
	if w.secrets == nil {
		w.secrets = w.env.secrets()
	}
	_, ok := w.secrets[identity(fi)]
	return ok
}
