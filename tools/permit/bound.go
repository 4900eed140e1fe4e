package permit

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// carried are the files of the workspace that a program carries out when it is
// run: by name, and all below a directory of that name. Sources that such a run
// only compiles are not among them, or every edit would ask.
type carried struct{ files, places table }

func carries(files, places string) carried {
	return carried{names([][2]string{{"file", files}}), names([][2]string{{"file", places}})}
}

func (b carried) match(rel string) bool {
	return len(b.files.exact)+len(b.files.globs)+len(b.places.exact) > 0 && placed(rel, b.files, b.places) != ""
}

// What a program carries out, by its name or by its name and its first word.
var carriedBy = spread(map[string]carried{
	"make gmake bmake":         carries("makefile,gnumakefile,bsdmakefile,*.mk,*.mak,*.make,*.inc,makefile.*,configure,*.sh,*.bash", ""),
	"just":                     carries("justfile,.justfile,*.just,*.sh,*.bash", ""),
	"task go-task":             carries("taskfile*.y*ml,*.sh,*.bash", ""),
	"mage":                     carries("magefile*.go", "magefiles"),
	"rake":                     carries("rakefile,rakefile.rb,*.rake", "rakelib"),
	"rspec":                    carries("*_spec.rb,spec_helper.rb,rails_helper.rb,.rspec,rakefile", ""),
	"cmake ctest cpack":        carries("cmakelists.txt,*.cmake,cmakepresets.json,cmakeuserpresets.json,ctesttestfile.cmake", ""),
	"ninja samu":               carries("*.ninja", ""),
	"meson":                    carries("meson.build,meson_options.txt,meson.options", ""),
	"scons":                    carries("sconstruct,sconscript", "site_scons"),
	"bazel bazelisk":           carries("build,build.bazel,workspace,workspace.bazel,module.bazel,*.bzl,.bazelrc*", ""),
	"buck buck2":               carries("buck,targets,*.bzl,.buckconfig*", ""),
	"pants":                    carries("build,build.*,pants.toml", ""),
	"go_test go_vet":           carries("*_test.go", ""),
	"go_generate go_run":       carries("*.go", ""),
	"cargo":                    carries("build.rs,cargo.toml,cargo.lock,rust-toolchain,rust-toolchain.toml", ".cargo,tests,benches,examples"),
	"gradle ./gradlew gradlew": carries("gradlew,gradlew.bat,*.gradle,*.gradle.kts,gradle.properties,gradle-wrapper.*,*test.java,*tests.java,*test.kt,*tests.kt,*spec.groovy,*test.groovy", "buildsrc,build-logic,gradle,src/test"),
	"mvn ./mvnw mvnw":          carries("mvnw,mvnw.cmd,pom.xml,*test.java,*tests.java,*test.kt", ".mvn,src/test"),
	"ant":                      carries("build.xml,build.properties", ""),
	"sbt":                      carries("*.sbt,*spec.scala,*test.scala,*suite.scala", "project"),
	"npm pnpm yarn bun deno node_modules jest vitest mocha ava tap karma cypress playwright turbo nx lerna vite webpack rollup gulp grunt next nuxt astro remix ng tsup esbuild parcel rspack expo wrangler": carries(
		"package.json,package-lock.json,npm-shrinkwrap.json,yarn.lock,pnpm-lock.yaml,bun.lock*,*.sh,*.test.*s,*.test.*sx,*.spec.*s,*.spec.*sx,*_test.*s,*.config.*s,gulpfile.*,gruntfile.*,.mocharc*,.babelrc*,.npmrc,.yarnrc*,.pnpmfile.*,deno.json*,bunfig.toml,pnpm-workspace.yaml,turbo.json,nx.json,project.json,jest.setup.*,vitest.setup.*,setuptests.*",
		"__tests__,__mocks__,test,tests,e2e,cypress,.yarn"),
	"tsc":                                   carries("*tsconfig*.json", ""), // which says where the output goes
	"eslint":                                carries(".eslintrc*,eslint.config.*,package.json", ""),
	"prettier":                              carries(".prettierrc*,prettier.config.*,package.json,package.yaml", ""),
	"stylelint":                             carries(".stylelintrc*,stylelint.config.*,package.json", ""),
	"pytest tox nox py.test unittest nose2": carries("conftest.py,test_*.py,*_test.py,pytest.ini,.pytest.ini,tox.ini,setup.cfg,setup.py,pyproject.toml,noxfile.py,sitecustomize.py,usercustomize.py,*.pth", "tests,test"),
	"mypy flake8 pylint":                    carries("mypy.ini,.mypy.ini,setup.cfg,pyproject.toml,tox.ini,.flake8,.pylintrc,pylintrc,sitecustomize.py,*.pth", ""),
	"mix":                                   carries("mix.exs,*_test.exs,test_helper.exs", "config"),
	"composer phpunit":                      carries("composer.json,composer.lock,phpunit.xml*,*test.php", "tests"),
	"dotnet msbuild":                        carries("*.csproj,*.fsproj,*.vbproj,*.proj,*.props,*.targets,*tests.cs,*test.cs,nuget.config", ""),
	"swift":                                 carries("package.swift,*tests.swift", "tests"),
	"zig":                                   carries("build.zig,build.zig.zon", ""),
	"dune opam":                             carries("dune,dune-project,*.opam", ""),
	"cabal stack":                           carries("*.cabal,setup.hs,setup.lhs,stack.yaml,cabal.project*", "test,tests"),
	"docker_build podman_build":             carries("dockerfile*,*.dockerfile,containerfile", ""),
	"docker-compose podman-compose":         carries("docker-compose*,compose*.y*ml,dockerfile*,*.dockerfile,containerfile", ""),
	"pip pip3 uv poetry pipenv pdm hatch rye": carries("requirements*,constraints*.txt,pyproject.toml,setup.py,setup.cfg,uv.toml,uv.lock,poetry.*,pdm.*,hatch.toml,pipfile*,pip.conf", "requirements"),
	"bundle":              carries("gemfile*,gems.rb,gems.locked,*.gemspec", ".bundle"),
	"golangci-lint":       carries(".golangci.*,.custom-gcl.y*ml", ""),
	"invoke inv fab":      carries("tasks.py,fabfile.py,invoke.*", "tasks"),
	"snakemake":           carries("snakefile,*.smk", ""),
	"earthly":             carries("earthfile", ""),
	"doit":                carries("dodo.py", ""),
	"sphinx-build":        carries("conf.py", ""),
	"fastlane":            carries("fastfile,appfile", "fastlane"),
	"terraform tofu":      carries("*.tf,*.tofu,*.tf.json,*.tfvars,.terraformrc,.terraform.lock.hcl", ".terraform"),
	"pre-commit lefthook": carries(".pre-commit-config.y*ml,lefthook*,.lefthook*", ".lefthook"),
	"git_commit git_push git_merge git_checkout git_switch git_pull": carries("package.json,.pre-commit-config.y*ml,lefthook*,.lefthook*,.lintstagedrc*,lint-staged.config.*,.huskyrc*", ".husky,.githooks,.git-hooks,githooks,.git/hooks"),
})

// spread gives every name its own entry.
func spread(m map[string]carried) map[string]carried {
	out := map[string]carried{}
	for list, b := range m {
		for _, n := range strings.Fields(list) {
			out[strings.ReplaceAll(n, "_", " ")] = b
		}
	}
	return out
}

// harmlessToRun are programs that take files for what they are, and carry none out.
var harmlessToRun = names([][2]string{{"takes files", "git,go,gofmt,gofumpt,goimports,staticcheck,govulncheck,rustfmt,ruff,black,isort,shellcheck,shfmt,clang-format,cp,mv,ln,mkdir,touch,tee,docker,gh"}})

// boundTo says which files of the workspace, counted from there, a rule for the
// command is bound to; nil if to none. Any other program is bound to the files it
// names, and to those named after it, in which it looks for what to do.
func boundTo(r parsed, c simple) func(rel string) bool {
	words := c.words
	if interpreter.MatchString(words[0].text) && len(words) > 2 && words[1].text == "-m" {
		words = words[2:]
	}
	head := words[0].text
	for _, w := range words[1:] {
		if b, ok := carriedBy[head+" "+w.text]; ok && !strings.HasPrefix(w.text, "-") {
			return b.match
		}
	}
	if b, ok := carriedBy[head]; ok {
		return b.match
	}
	if r.star || anywhere(c) || harmlessToRun.exact[head] != "" {
		return nil
	}
	files := map[string]bool{}
	for i, w := range words {
		if i > 0 || strings.Contains(w.text, "/") {
			for _, p := range readings(w.text) {
				files[path.Join(r.dir, p)] = true
			}
		}
	}
	return func(rel string) bool { return files[rel] || namedAfter(head, rel) }
}

// namedAfter reports whether a file is named after a program: air.toml, .airrc,
// vagrantfile, .golangci.yml, and all below .pulumi.
func namedAfter(program, rel string) bool {
	program = fold(path.Base(program))
	short, _, _ := strings.Cut(program, "-")
	parts := strings.Split(fold(rel), "/")
	for i, s := range parts {
		bare, hidden := strings.CutPrefix(s, ".")
		for _, name := range []string{program, short} {
			end, ok := strings.CutPrefix(bare, name)
			switch {
			case !ok:
			case i < len(parts)-1:
				if hidden && end == "" {
					return true
				}
			case end == "" || end[0] == '.' || strings.HasPrefix(end, "rc") || strings.HasPrefix(end, "file"):
				return true
			}
		}
	}
	return false
}

// grant is what a rule was given for: when, and how the files it is bound to were then.
type grant struct {
	since time.Time
	files map[string]Stamp // nil: nobody looked
}

// judge is what a command's rules are held against.
type judge struct {
	changes *Changes
	root    string
	look    func(wanted func(rel string) bool) map[string]Stamp // nil: nobody looks
	git     func(reads bool) string                             // nil: nobody looks
}

// given is what a rule that is offered for the command would be given for.
func (j judge) given(r Rule, command string) grant {
	g := grant{since: time.Now()}
	p, err := r.parse()
	s, err2 := analyse(command)
	if err != nil || err2 != nil || j.look == nil {
		return g
	}
	for _, c := range s.cmds {
		c = unwrap(c)
		if len(p.words) == 0 || c.words[0].text != p.words[0] {
			continue
		}
		if wanted := boundTo(p, c); wanted != nil {
			g.files = j.look(wanted)
		}
	}
	return g
}

// stale says why the rule does not cover the command any more: an agent changed
// since the grant what it runs. "" if none did.
func (j judge) stale(r parsed, c simple) string {
	wanted := boundTo(r, c)
	if wanted == nil || j.changes == nil {
		return ""
	}
	ran, written := j.changes.since(r.given.since)
	for _, p := range written {
		if rel, err := filepath.Rel(j.root, p); err == nil && filepath.IsLocal(rel) && wanted(rel) {
			return rel + changed
		}
	}
	if !ran || j.look == nil {
		return ""
	}
	now := j.look(wanted)
	for _, p := range slices.Sorted(maps.Keys(now)) {
		if j.byAgent(p, now[p], r.given) {
			return p + changed
		}
	}
	for p := range r.given.files {
		// Without it something else of that name may be found instead.
		if _, there := now[p]; !there && lead[strings.ToLower(path.Base(p))] && wanted(p) {
			return p + " is gone since you allowed this"
		}
	}
	return ""
}

const changed = " was changed by an agent since you allowed this"

// lead are files that stand in front of others of another name.
var lead = map[string]bool{"gnumakefile": true, "makefile": true, "justfile": true, ".justfile": true, "taskfile.yml": true, "rakefile": true, "pytest.ini": true, "pyproject.toml": true, "conftest.py": true, "build.gradle": true}

// byAgent reports whether a file is another than at the grant through an agent's
// doing: it changed while a command ran, or came to its place with an older one.
func (j judge) byAgent(p string, now Stamp, g grant) bool {
	was, there := g.files[p]
	switch {
	case there && was.Dev == now.Dev && was.Ino == now.Ino && was.Size == now.Size && was.Changed.Equal(now.Changed):
		return false
	case g.files == nil && now.Changed.Before(g.since.Add(-blur)):
		return false
	}
	moved := g.files != nil && now.Changed.Before(g.since.Add(blur))
	return moved || j.changes.during(now.Changed)
}
