package shell

import (
	"path"
	"strings"
)

// carries lists the files of the workspace that a program carries out when it runs: by name, and everything below a
// directory of that name. Sources that it only compiles are not among them, or every edit would ask.
func carries(files, places string) List { return NewList(files, places) }

// The files that a program carries out, by its name, or by its name and its first word.
var carriedBy = spread(map[string]List{
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
	"tsc":                                   carries("*tsconfig*.json", ""), // it sets the output directory
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

// spread makes one entry for each name.
func spread(m map[string]List) map[string]List {
	out := map[string]List{}
	for list, b := range m {
		for _, n := range strings.Fields(list) {
			out[strings.ReplaceAll(n, "_", " ")] = b
		}
	}
	return out
}

// harmlessToRun are programs that treat files as data, and carry none out.
var harmlessToRun = set("git,go,gofmt,gofumpt,goimports,staticcheck,govulncheck,rustfmt,ruff,black,isort,shellcheck,shfmt,clang-format,cp,mv,ln,mkdir,touch,tee,docker,gh")

// CarriesOut returns a filter for the workspace's files that a command carries out because of its program's name; nil
// if none is known.
func CarriesOut(c Command) func(rel string) bool {
	words := program(c)
	head := words[0].Text
	for _, w := range words[1:] {
		if b, ok := carriedBy[head+" "+w.Text]; ok && !strings.HasPrefix(w.Text, "-") {
			return b.Match
		}
	}
	if b, ok := carriedBy[head]; ok {
		return b.Match
	}
	return nil
}

// BoundTo returns a filter for the workspace's files, by their paths from there, that a rule for a command's exact
// words in the directory dir is bound to; nil if to none. A program in no table is bound to the files that it names,
// and to those named after the program, which may tell it what to do.
func BoundTo(c Command, dir string) func(rel string) bool {
	if b := CarriesOut(c); b != nil {
		return b
	}
	words := program(c)
	head := words[0].Text
	if Anywhere(c) || harmlessToRun[head] {
		return nil
	}
	files := map[string]bool{}
	for i, w := range words {
		if i > 0 || strings.Contains(w.Text, "/") {
			for _, p := range w.Readings() {
				files[path.Join(dir, p)] = true
			}
		}
	}
	return func(rel string) bool { return files[rel] || namedAfter(head, rel) }
}

// program are the words from the program's name on, which for python -m is the module's.
func program(c Command) []Word {
	if interpreter.MatchString(c.Words[0].Text) && len(c.Words) > 2 && c.Words[1].Text == "-m" {
		return c.Words[2:]
	}
	return c.Words
}

// namedAfter reports whether a file is named after a program: air.toml, .airrc, vagrantfile, .golangci.yml, and
// everything below .pulumi.
func namedAfter(program, rel string) bool {
	program = Fold(path.Base(program))
	short, _, _ := strings.Cut(program, "-")
	parts := strings.Split(Fold(rel), "/")
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
