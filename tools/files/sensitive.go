package files

import (
	"errors"
	"os"
	"path/filepath"

	"fantail/tools/permission/shell"
)

const (
	// maxNames bounds how many names of the workspace are checked for secrets under another name.
	maxNames = 100_000
	// maxPrivate bounds how many private files are compared by identity.
	maxPrivate = 4096
)

// wellKnown are the places of a home directory that hold secrets. They come before other files that are found by name,
// so that a large browser profile does not use up the limit.
var wellKnown = []string{
	".ssh", ".aws", ".gnupg", ".kube", ".azure", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".docker/config.json", ".config/gh",
	".config/gcloud", ".config/hub", ".config/rclone", ".config/git/credentials", ".env", ".vault-token", ".cargo/credentials", ".cargo/credentials.toml",
	".gem/credentials", ".m2/settings.xml", ".composer/auth.json", ".password-store", ".local/share/keyrings", ".oci", ".config/op", ".config/doctl",
}

// secrets are the files of the user's home directory and of the workspace that hold secrets judging by their names, by
// identity: another name of one is secret too.
func (tr *Tree) secrets() map[id]string {
	out := map[id]string{}
	add := func(p string, depth int) {
		ids := map[id]bool{}
		identities(p, depth, "", ids)
		for i := range ids {
			out[i] = p
		}
	}
	if home := tr.Home; home != "" {
		for _, d := range wellKnown {
			add(filepath.Join(home, d), 3)
		}
		names, _ := os.ReadDir(home)
		for _, n := range names {
			if p := filepath.Join(home, n.Name()); p != tr.Root && shell.Sensitive(n.Name()) != "" && len(out) < maxPrivate {
				add(p, 1)
			}
		}
	}
	left := maxNames
	tr.secretNames(tr.Root, "", &left, out)
	if t := filepath.Join(tr.Root, ".git/config"); tr.holds(Target{Abs: t}) != "" {
		add(t, 0)
	}
	return out
}

// secretNames adds the files below dir whose names are those of secrets. It leaves out the files of git and package
// managers.
func (tr *Tree) secretNames(dir, rel string, left *int, out map[id]string) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if *left--; *left < 0 {
			return
		}
		p, r := filepath.Join(dir, d.Name()), filepath.Join(rel, d.Name())
		switch {
		case d.IsDir() && d.Name() != ".git" && d.Name() != "node_modules":
			tr.secretNames(p, r, left, out)
		case d.Type().IsRegular() && shell.SensitiveFile(r) != "":
			if fi, err := d.Info(); err == nil && links(fi) > 1 {
				out[identity(fi)] = p
			}
		}
	}
}

// sensitive says why the target is sensitive: by its name, because it is another name of such a file, or by its
// beginning.
func (tr *Tree) sensitive(t Target) string {
	name := t.Abs
	if t.Inside {
		name = t.Rel
	}
	if why := shell.Sensitive(name); why != "" {
		return why
	}
	if t.tilde {
		if why := shell.Sensitive(t.raw[1:]); why != "" {
			return why
		}
	}
	if t.forbidden != "" {
		return ""
	}
	fi, err := os.Lstat(t.Abs)
	if err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	if why := shell.SensitiveFile(name); why != "" {
		return why
	}
	if links(fi) > 1 {
		if p, ok := tr.secrets()[identity(fi)]; ok {
			return "secrets: it is another name of a file of " + p
		}
	}
	return tr.holds(t)
}

// holds says which secrets a regular file holds, judging by its beginning. A file that can't be opened holds none;
// files of the kernel are not opened. (Those below /dev are ordinary files in memory.)
func (tr *Tree) holds(t Target) string {
	for _, d := range []string{"/proc", "/sys"} {
		if _, in := below(d, t.Abs); in {
			return ""
		}
	}
	dir, err := tr.holdDir(filepath.Dir(t.Abs), false)
	if err != nil {
		return ""
	}
	defer dir.Close()
	f, _, err := openIn(dir, filepath.Base(t.Abs), tr.privateIDs())
	if err != nil {
		return ""
	}
	defer f.Close()
	return holdsSecrets(f, t.Abs)
}

// holdsSecrets judges an open file by its beginning, without moving its read position.
func holdsSecrets(f *os.File, name string) string {
	head := make([]byte, shell.HeadOf(name))
	n, _ := f.ReadAt(head, 0)
	return shell.HoldsSecrets(name, head[:n])
}

// errSecret says that a file has got secrets since its path was judged.
var errSecret = errors.New("the file holds secrets now that it did not hold a moment ago; try again, then the user is asked")
