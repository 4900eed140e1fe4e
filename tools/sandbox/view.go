package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// view is what a command sees of the machine, for any wall.
type view struct {
	root    string
	home    string // "": there is none
	scratch string
	mail    string   // where its mail leaves; "": nowhere
	read    []string // may be read, wherever they are; they are there
	beside  []string // may be read, in a temporary directory whose place the command's own takes
	write   []string // may be changed; they are there
	keep    []string // inside of write, must not be changed; they are there
	hide    []string // must not be seen; they are there
	shown   []string // inside of hide, may be read
	net     bool
	wide    bool // a network of any kind
}

// kept are the paths of a work tree that programs of the user carry out or obey by themselves, from its top: who writes
// one of them acts outside of the sandbox, later.
var kept = []string{
	".git/hooks", ".git/config", ".git/config.worktree", ".git/info", ".git/commondir", ".gitconfig", ".lfsconfig",
	".agents", ".fantail", ".claude", ".codex", ".cursor", ".gemini", ".opencode", ".crush", ".mcp.json", ".aider.conf.yml", ".windsurf", ".clinerules",
	"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "CRUSH.md", ".cursorrules", ".windsurfrules",
	".envrc", ".direnv", ".env.leave", "mise.toml", ".mise.toml", ".mise", ".tool-versions",
	".vscode", ".idea", ".zed", ".fleet", ".devcontainer", ".devcontainer.json", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".dir-locals.el",
	".husky", ".githooks", ".lefthook", "lefthook.yml", ".pre-commit-config.yaml",
	".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile",
}

// keptModules are those of a submodule's or a linked work tree's directory below .git.
var keptModules = []string{"hooks", "config", "config.worktree", "info", "commondir", "gitdir"}

// Kept are the paths inside of the workspace, and of what git writes for it, that a command must not change, whether
// they are there or not.
func (g Ground) Kept() (all []string) {
	for _, k := range kept {
		all = append(all, filepath.Join(g.Root, k))
	}
	if i, err := os.Lstat(filepath.Join(g.Root, ".git")); err == nil && !i.IsDir() {
		all = append(all, filepath.Join(g.Root, ".git")) // it says where the repository is
	}
	if g.Guarded != nil {
		all = append(all, g.Guarded()...)
	}
	dirs := slices.Clone(g.Git)
	for _, pattern := range []string{"modules/*", "modules/*/*", "modules/*/*/*", "worktrees/*"} {
		for _, git := range append([]string{filepath.Join(g.Root, ".git")}, g.Git...) {
			some, _ := filepath.Glob(filepath.Join(escaped(git), pattern))
			dirs = append(dirs, some...)
		}
	}
	for _, d := range dirs {
		// None of these can be taken away by a command, but the rest of the directory can, and it must be known again.
		known := func(name string) bool { _, err := os.Lstat(filepath.Join(d, name)); return err == nil }
		if !slices.Contains(g.Git, d) && !known("HEAD") && !slices.ContainsFunc(keptModules, known) {
			continue
		}
		for _, k := range keptModules {
			all = append(all, filepath.Join(d, k))
		}
	}
	return all
}

// escaped is a path as a pattern that matches only it.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// view says what a command of the profile sees; has tells which programs are installed.
func (g Ground) view(p Profile, leave Leave, has func(program, path string) bool) (view, error) {
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
	v.read = append(present(g.Git), g.Root)
	v.write = []string{g.Scratch}
	if t.work {
		v.write = append(v.write, g.Root)
		v.write = append(v.write, present(g.Git)...)
	}
	if t.caches {
		for _, c := range g.caches(has) {
			if t.work || !in(c, g.Root) {
				v.write = append(v.write, c)
			}
		}
	}
	for _, w := range leave.Write {
		if strings.HasSuffix(w, "/") {
			_ = os.MkdirAll(w, 0o700) // where that fails, who wants to write there says so
		}
	}
	for _, w := range present(leave.Write) {
		if !v.writes(w) {
			v.write = append(v.write, w)
		}
	}
	for _, k := range present(g.Kept()) {
		if v.writes(k) && !slices.Contains(leave.Write, k) {
			v.keep = append(v.keep, k)
		}
	}
	for _, h := range present(slices.Concat(g.Private, g.secrets(), strangers)) {
		if !v.hides(h) && !slices.ContainsFunc(v.write, func(w string) bool { return w != g.Scratch && in(w, h) }) {
			v.hide = append(v.hide, h)
		}
	}
	for _, b := range besides(leave.Words) {
		if !v.writes(b) && !within(v.read, b) {
			v.beside = append(v.beside, b)
		}
	}
	v.shown = present(g.Shown)
	for _, r := range present(leave.Read) {
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

// within reports whether one of the trees holds path.
func within(trees []string, path string) bool {
	return slices.ContainsFunc(trees, func(t string) bool { return in(path, t) })
}

// in reports whether path is tree or lies below.
func in(path, tree string) bool {
	return tree != "" && (path == tree || strings.HasPrefix(path, strings.TrimSuffix(tree, "/")+"/"))
}

// present are those of the paths that are there, as they are once links are followed, each once.
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

// roomy are the directories of a home directory whose entries, not they themselves, hold secrets or none.
var roomy = []string{".config", ".local/share", ".cargo", ".docker", ".gem", ".m2", ".composer", ".config/git", "Library", "Library/Application Support", ".subversion", ".gradle"}

// secrets are the entries of the home directory that hold some, by their names.
func (g Ground) secrets() (all []string) {
	if g.Home == "" || g.Secret == nil {
		return nil
	}
	for _, dir := range append([]string{"."}, roomy...) {
		list, err := os.ReadDir(filepath.Join(g.Home, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // who can't list it here can't in a sandbox
		}
		for _, e := range list {
			rel := filepath.ToSlash(filepath.Join(dir, e.Name()))
			// Who listens in another network, such as a container's, is on no list of this one.
			if p := filepath.Join(g.Home, rel); (e.Type()&fs.ModeSocket != 0 || g.Secret(rel) != "") && !in(g.Root, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// cache is a directory that a build tool fills for all its projects.
type cache struct {
	program string // the tool's
	env     string // the variable that names it; "": none
	below   string // what of the variable's directory it is
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
	{"mix", "HEX_HOME", "", ".hex"},
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
func (g Ground) wants(program string) bool {
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

// caches are the build tools' caches. That of a tool which is installed here and which the workspace is for is made if
// it is not there, as the tool would.
func (g Ground) caches(has func(program, path string) bool) (all []string) {
	env := map[string]string{}
	for _, e := range g.Environ {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	for _, c := range caches {
		p := ""
		if v := env[c.env]; c.env != "" && filepath.IsAbs(v) {
			p = filepath.Join(v, c.below)
		} else if c.path != "" && g.Home != "" {
			p = filepath.Join(g.Home, c.path)
		}
		if p == "" || in(g.Home, p) || in(g.Root, p) && p != g.Root {
			continue // never a tree that holds more than a cache
		}
		if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) && has(c.program, env["PATH"]) && g.wants(c.program) {
			_ = os.MkdirAll(p, 0o700) // where that fails the tool says so
		}
		for _, real := range present([]string{p}) {
			if !within(all, real) {
				all = append(all, real)
			}
		}
	}
	return all
}
