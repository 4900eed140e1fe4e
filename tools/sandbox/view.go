package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// view is what a command sees of the machine, for any backend.
type view struct {
	root    string
	home    string // "": there is none
	scratch string
	mail    string   // the directory for its outgoing mail; "": none
	read    []string // readable, wherever they are; they exist
	beside  []string // readable, in a temporary directory that is replaced
	write   []string // writable; they exist
	keep    []string // inside of write, protected; they exist
	hide    []string // hidden; they exist
	shown   []string // inside of hide, readable
	net     bool
	wide    bool // a network of any kind
}

// escaped returns a pattern that matches only the path.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// view returns what a command of the profile sees on that backend.
func (g Workspace) view(p Profile, leave Leave, on *Backend) (view, error) {
	t, ok := profiles[p]
	if !ok {
		return view{}, errors.New("there is no profile " + string(p))
	}
	if in(g.Home, g.Root) {
		return view{}, errors.New("the workspace holds the whole home directory, and a sandbox has to let commands write the workspace: start Fantail in a directory of its own")
	}
	v := view{root: g.Root, scratch: g.Scratch, mail: leave.Mail, net: t.net || leave.Network, wide: t.wide}
	for _, h := range present([]string{g.Home}) {
		v.home = h
	}
	// Commands write the workspace, also those of other profiles: they may have made any link in it.
	git := present(granted([]string{g.Root}, g.Git))
	theirs := append([]string{g.Root, g.Scratch}, git...)
	v.read = append(slices.Clone(git), g.Root)
	v.write = []string{g.Scratch}
	if t.work {
		v.write = append(v.write, g.Root)
		v.write = append(v.write, git...)
	}
	var own []string // a vendor's agent has its own login
	if p == Vendor {
		own = present(leave.Write)
	}
	secrets := slices.DeleteFunc(present(g.secrets()), func(h string) bool { return within(own, h) })
	private := present(slices.Concat(g.Private, secrets, strangers))
	if t.caches {
		caches := g.caches(theirs, on)
		v.write = append(v.write, slices.DeleteFunc(caches, func(c string) bool { return within(private, c) })...)
	}
	for _, w := range leave.Write {
		if strings.HasSuffix(w, "/") {
			for _, real := range granted(slices.Concat(theirs, v.write), []string{w}) {
				_ = os.MkdirAll(real, 0o700) // if that fails, the command that wants to write there reports it
			}
		}
	}
	if !t.work { // the workspace may be granted, or a part of it
		for _, w := range leave.Write {
			if is, ok := follow(w); ok && len(is.links) == 0 && within(theirs, is.real) {
				v.write = append(v.write, present([]string{w})...)
			}
		}
	}
	v.write = append(v.write, present(granted(slices.Concat(theirs, v.write), leave.Write))...)
	theirs = append(theirs, v.write...)
	if g.Kept != nil {
		for _, k := range present(g.Kept()) {
			if v.writes(k) && !slices.Contains(leave.Write, k) {
				v.keep = append(v.keep, k)
			}
		}
	}
	for _, h := range private {
		if !v.hides(h) && !slices.ContainsFunc(v.write, func(w string) bool { return w != g.Scratch && in(w, h) }) {
			v.hide = append(v.hide, h)
		}
	}
	for _, b := range besides(theirs, leave.Words, g.Environ) {
		if !v.writes(b) && !within(v.read, b) {
			v.beside = append(v.beside, b)
		}
	}
	v.shown = shows(theirs, g.Shown)
	for _, r := range shows(theirs, leave.Read) {
		if v.hides(r) || within(replaced(), r) && !v.writes(r) {
			v.shown = append(v.shown, r)
		}
	}
	return v, nil
}

// strangers are secrets of the machine that root would see.
var strangers = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/krb5.keytab"}

func (v *view) writes(path string) bool { return within(v.write, path) }
func (v *view) hides(path string) bool  { return within(v.hide, path) }

// within reports whether path is in one of the trees.
func within(trees []string, path string) bool {
	return slices.ContainsFunc(trees, func(t string) bool { return in(path, t) })
}

// in reports whether path is tree or below it.
func in(path, tree string) bool {
	return tree != "" && (path == tree || strings.HasPrefix(path, strings.TrimSuffix(tree, "/")+"/"))
}

// present are the existing paths, with links resolved, each once.
func present(paths []string) (there []string) {
	for _, p := range paths {
		if p == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(p)
		if err == nil && !slices.Contains(there, real) {
			there = append(there, real)
		}
	}
	return there
}

// roomy are directories of the home directory that are too broad to hide: their entries hold secrets or not.
var roomy = []string{".config", ".local/share", ".cargo", ".docker", ".gem", ".m2", ".composer", ".config/git", "Library", "Library/Application Support", ".subversion", ".gradle"}

// moved are the variables that move files from below a directory of the home directory to elsewhere.
var moved = [][2]string{
	{"XDG_CONFIG_HOME", ".config/"},
	{"XDG_DATA_HOME", ".local/share/"},
	{"XDG_STATE_HOME", ".local/state/"},
	{"XDG_CACHE_HOME", ".cache/"},
	{"CLAUDE_CONFIG_DIR", ".claude/"},
	{"CODEX_HOME", ".codex/"},
	{"HF_HOME", ".cache/huggingface/"},
	{"KAGGLE_CONFIG_DIR", ".kaggle/"},
	{"JUPYTER_CONFIG_DIR", ".jupyter/"},
	{"GNUPGHOME", ".gnupg"},
	{"PASSWORD_STORE_DIR", ".password-store"},
	{"CARGO_HOME", ".cargo/"},
	{"GRADLE_USER_HOME", ".gradle/"},
	{"DOCKER_CONFIG", ".docker/"},
	{"AZURE_CONFIG_DIR", ".azure"},
	{"CLOUDSDK_CONFIG", ".config/gcloud"},
	{"GH_CONFIG_DIR", ".config/gh"},
	{"GLAB_CONFIG_DIR", ".config/glab-cli"},
	{"COMPOSER_HOME", ".composer/"},
	{"AWS_SHARED_CREDENTIALS_FILE", ".aws"},
	{"AWS_CONFIG_FILE", ".aws"},
	{"KUBECONFIG", ".kube"},
	{"NETRC", ".netrc"},
	{"PGPASSFILE", ".pgpass"},
	{"NPM_CONFIG_USERCONFIG", ".npmrc"},
	{"npm_config_userconfig", ".npmrc"},
	{"PIP_CONFIG_FILE", ".config/pip/pip.conf"},
	{"BOTO_CONFIG", ".boto"},
	{"RCLONE_CONFIG", ".config/rclone"},
	{"SOPS_AGE_KEY_FILE", ".config/sops"},
	{"REGISTRY_AUTH_FILE", ".config/containers/auth.json"},
	{"GOOGLE_APPLICATION_CREDENTIALS", ".config/gcloud"},
	{"VAULT_TOKEN_PATH", ".vault-token"},
	{"IRSSI_HOME", ".irssi"},
	{"WEECHAT_HOME", ".weechat"},
	{"TF_CLI_CONFIG_FILE", ".terraformrc"},
	{"PULUMI_HOME", ".pulumi/"},
	{"MINIKUBE_HOME", ".minikube"},
	{"BUNDLE_USER_CONFIG", ".bundle/config"},
	{"CABAL_DIR", ".cabal/"},
	{"MYSQL_TEST_LOGIN_FILE", ".mylogin.cnf"},
}

// listed are the paths of Secrets, in the home directory and where variables move them.
func (g Workspace) listed() (all []string) {
	for _, s := range g.Secrets {
		all = append(all, filepath.Join(g.Home, s))
	}
	for _, e := range g.Environ {
		name, value, _ := strings.Cut(e, "=")
		i := slices.IndexFunc(moved, func(m [2]string) bool { return m[0] == name })
		if i < 0 {
			continue
		}
		for at := range strings.SplitSeq(value, ":") { // some name several
			if !filepath.IsAbs(at) || in(g.Home, at) || in(g.Root, at) {
				continue
			}
			for _, s := range g.Secrets {
				if rest, is := strings.CutPrefix(s, moved[i][1]); is {
					all = append(all, filepath.Join(at, rest))
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(p string) bool {
		_, err := os.Lstat(p)
		return err != nil || in(g.Root, p)
	})
}

// secrets are the entries of the home directory that hold secrets: the listed ones, and others by their names.
func (g Workspace) secrets() (all []string) {
	if g.Home == "" {
		return nil
	}
	all = g.listed()
	if g.Secret == nil {
		return all
	}
	dirs := append([]string{"."}, roomy...)
	for n := 0; n < len(dirs); n++ { // it grows
		dir := dirs[n]
		for _, e := range entries(filepath.Join(g.Home, dir)) {
			rel := filepath.ToSlash(filepath.Join(dir, e.Name()))
			p := filepath.Join(g.Home, rel)
			// A socket that belongs to another network namespace, such as a container's, is not on this one's list.
			if (e.Type()&fs.ModeSocket != 0 || g.Secret(rel) != "") && !in(g.Root, p) {
				all = append(all, p)
			} else if e.IsDir() && (dir == ".config" || dir == "." && rel[0] == '.') && !slices.Contains(dirs, rel) && p != g.Root {
				dirs = append(dirs, rel)
			}
		}
	}
	return all
}

// maxDirEntries bounds the entries that are read of a directory of the home directory.
const maxDirEntries = 1000

// entries returns the entries of a directory; none if it can't be listed: a command in a sandbox can't list it either.
func entries(dir string) []fs.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(maxDirEntries)
	return list
}

// cache is a directory that a build tool fills for all its projects.
type cache struct {
	program string // the tool's
	env     string // the variable that names it; "": none
	below   string // path below the variable's directory
	path    string // from the home directory, where the variable is not set
}

var caches = []cache{
	{"go", "GOCACHE", "", ".cache/go-build"},
	{"go", "GOMODCACHE", "", ""},
	{"go", "GOPATH", "pkg", "go/pkg"},
	{"golangci-lint", "GOLANGCI_LINT_CACHE", "", ".cache/golangci-lint"},
	{"staticcheck", "STATICCHECK_CACHE", "", ".cache/staticcheck"},
	{"npm", "npm_config_cache", "", ".npm"},
	{"node", "", "", ".cache/node"},
	{"node-gyp", "", "", ".cache/node-gyp"},
	{"yarn", "YARN_CACHE_FOLDER", "", ".cache/yarn"},
	{"yarn", "", "", ".yarn/berry/cache"},
	{"pnpm", "", "", ".local/share/pnpm/store"},
	{"pnpm", "", "", ".cache/pnpm"},
	{"bun", "", "", ".bun/install/cache"},
	{"deno", "DENO_DIR", "", ".cache/deno"},
	{"npx", "", "", ".cache/ms-playwright"},
	{"pip", "PIP_CACHE_DIR", "", ".cache/pip"},
	{"uv", "UV_CACHE_DIR", "", ".cache/uv"},
	{"poetry", "", "", ".cache/pypoetry"},
	{"pre-commit", "", "", ".cache/pre-commit"},
	{"cargo", "CARGO_HOME", "registry", ".cargo/registry"},
	{"cargo", "CARGO_HOME", "git", ".cargo/git"},
	{"sccache", "SCCACHE_DIR", "", ".cache/sccache"},
	{"ccache", "CCACHE_DIR", "", ".cache/ccache"},
	{"gradle", "GRADLE_USER_HOME", "caches", ".gradle/caches"},
	{"gradle", "GRADLE_USER_HOME", "daemon", ".gradle/daemon"},
	{"gradle", "GRADLE_USER_HOME", "native", ".gradle/native"},
	{"java", "GRADLE_USER_HOME", "wrapper/dists", ".gradle/wrapper/dists"},
	{"mvn", "", "", ".m2/repository"},
	{"dotnet", "NUGET_PACKAGES", "", ".nuget/packages"},
	{"bazel", "", "", ".cache/bazel"},
	{"zig", "ZIG_GLOBAL_CACHE_DIR", "", ".cache/zig"},
	{"cabal", "", "", ".cabal/packages"},
	{"mix", "HEX_HOME", "packages", ".hex/packages"},
	{"composer", "", "", ".cache/composer"},
	{"bundle", "", "", ".bundle/cache"},
	{"tsc", "", "", ".cache/typescript"},
	{"ruff", "", "", ".cache/ruff"},
	{"mypy", "", "", ".cache/mypy"},
}

// marks are the files by which a project shows that it is for a tool, at its top or in a directory there.
var marks = map[string][]string{
	"go": {"go.mod", "go.work"}, "npm": {"package.json"}, "yarn": {"yarn.lock"}, "pnpm": {"pnpm-lock.yaml"}, "bun": {"bun.lock", "bun.lockb"},
	"deno": {"deno.json", "deno.jsonc"}, "pip": {"requirements.txt", "pyproject.toml", "setup.py"}, "uv": {"uv.lock", "pyproject.toml"},
	"poetry": {"poetry.lock"}, "cargo": {"Cargo.toml"}, "mvn": {"pom.xml"}, "gradle": {"build.gradle", "build.gradle.kts"},
	"java": {"gradlew"}, "dotnet": {"global.json", "nuget.config"}, "mix": {"mix.exs"}, "composer": {"composer.json"},
}

// wants reports whether the workspace is for the program.
func (g Workspace) wants(program string) bool {
	for _, m := range marks[program] {
		if _, err := os.Lstat(filepath.Join(g.Root, m)); err == nil {
			return true
		}
		if below, _ := filepath.Glob(filepath.Join(escaped(g.Root), "*", m)); len(below) > 0 {
			return true
		}
	}
	return false
}

// caches are the build tools' caches, except those in trees which commands write. The cache of an installed tool that
// the workspace uses is made if it is missing, as the tool would do.
func (g Workspace) caches(theirs []string, on *Backend) (all []string) {
	env := map[string]string{}
	for _, e := range g.Environ {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	programs := map[string]string{} // by the path of a cache
	var paths []string
	for _, c := range caches {
		p := ""
		if v := env[c.env]; c.env != "" && filepath.IsAbs(v) {
			p = filepath.Join(v, c.below)
		} else if c.path != "" && g.Home != "" {
			p = filepath.Join(g.Home, c.path)
		}
		if w, ok := follow(p); !ok || !on.leads(p, w.real) || in(g.Home, w.real) || in(g.Root, w.real) || in(g.Scratch, w.real) {
			continue // never a tree that holds more than a cache
		} else if programs[w.real] == "" {
			programs[w.real] = c.program
		}
		paths = append(paths, p)
	}
	for _, real := range granted(theirs, paths) {
		if _, err := os.Lstat(real); errors.Is(err, fs.ErrNotExist) && on.has(programs[real], env["PATH"]) && g.wants(programs[real]) {
			_ = os.MkdirAll(real, 0o700) // if that fails, the tool reports it
		}
		all = append(all, present([]string{real})...)
	}
	return all
}
