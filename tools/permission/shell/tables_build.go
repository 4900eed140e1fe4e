package shell

// An option that only shows what would be done (-n, --dry-run, --collect-only) is on no list of a tool that otherwise
// does it: a rule given for the one would cover the other.
const goBuild = "-a -x -v -race -msan -asan -cover -work -trimpath -buildvcs -p=num -tags=word -covermode=word -coverpkg=pkg "

var goTest = goBuild + "-json -short -failfast -fullpath -benchmem -bench=text -benchtime=word -count=num -cpu=word -parallel=num -run=text -shuffle=word " +
	"-skip=text -timeout=word -vet=word"

var goTool = form{
	subs: map[string]form{
		"test":  {opens: true, writes: true, style: dash, opts: goTest, args: "pkg..."},
		"build": {opens: true, writes: true, style: dash, opts: goBuild, args: "dir..."}, // without -o it overwrites only old output
		"vet":   {opens: true, style: dash, opts: "-x -v -json -race -c=num -p=num -tags=word", args: "pkg..."},
		"list": {
			opens: true, style: dash, args: "pkg...",
			opts: "-json[word] -f=text -m -deps -test -e -find -v -tags=word", // -u and -versions contact any host
		},
		"fmt":     {opens: true, writes: true, style: dash, opts: "-x", args: "pkg..."},
		"doc":     {opens: true, style: dash, opts: "-all -c -cmd -short -src -u", args: "pkg pkg"},
		"version": {opens: true, style: dash, opts: "-m -v", args: "path..."},
		"help":    {opens: true, args: "word..."},
		"env":     {opens: true, style: dash, opts: "-json", args: "goenv...", least: 1}, // it may hold credentials
		"mod": {subs: map[string]form{
			"tidy": {opens: true, writes: true, style: dash, opts: "-v -x -e"}, "graph": {opens: true, style: dash, opts: "-x"}, "verify": {opens: true},
			"why": {opens: true, style: dash, opts: "-m -vendor", args: "pkg..."}, "download": {opens: true, style: dash, opts: "-x -json"},
		}},
	},
	never: merge(map[string]string{"changes the user's settings": "telemetry", "opens a browser": "bug"}),
}

// Formatters print or list with one option and rewrite files with another: a rule for the one does not cover the other.
var (
	gofmtTool    = form{opens: true, style: dash, opts: "-l -d -e -s", args: "path...", least: 1, one: "-l -d", subs: map[string]form{"-w": {opens: true, writes: true, style: dash, opts: "-l -d -e -s", args: "path...", least: 1}}}
	gofumptTool  = form{opens: true, style: dash, opts: "-l -d -e -extra", args: "path...", least: 1, one: "-l -d", subs: map[string]form{"-w": {opens: true, writes: true, style: dash, opts: "-l -d -e -extra", args: "path...", least: 1}}}
	goimportTool = form{opens: true, style: dash, opts: "-l -d -e -local=text", args: "path...", least: 1, one: "-l -d", subs: map[string]form{"-w": {opens: true, writes: true, style: dash, opts: "-l -d -e -local=text", args: "path...", least: 1}}}
	ruffFormat   = form{opens: true, args: "path...", opts: "-qv --quiet --verbose --no-cache --preview --exclude=path --line-length=num"}
	blackOpts    = "-qvS -l=num -t=word --quiet --verbose --line-length=num --target-version=word --skip-string-normalization --skip-magic-trailing-comma --preview --fast --safe --color --no-color"
	blackTool    = form{opens: true, writes: true, opts: blackOpts, args: "path...", least: 1, subs: map[string]form{
		"--check": {opens: true, opts: blackOpts, args: "path...", least: 1},
	}}
	ruffOpts = "-qvesn --quiet --verbose --silent --no-cache --preview --select=word --ignore=word --extend-select=word --extend-ignore=word --line-length=num --output-format=word --statistics --exclude=path " +
		"--exit-zero --respect-gitignore --target-version=word"
	ruffTool = form{subs: map[string]form{
		"check": {opens: true, opts: ruffOpts + " --no-fix", args: "path...", subs: map[string]form{"--fix": {opens: true, writes: true, opts: ruffOpts, args: "path..."}}},
		"format": {
			opens: true, writes: true, args: ruffFormat.args, opts: ruffFormat.opts,
			subs: map[string]form{"--check": ruffFormat, "--diff": {opens: true, args: "source...", least: 1, opts: ruffFormat.opts}},
		},
	}}
	prettierOpts = "-u --log-level=word --loglevel=word --no-color --color --no-error-on-unmatched-pattern --ignore-unknown --no-editorconfig --no-config --tab-width=num --print-width=num"
	prettierTool = form{subs: map[string]form{
		"--check": {opens: true, opts: prettierOpts, args: "path...", least: 1}, "-c": {opens: true, opts: prettierOpts, args: "path...", least: 1},
		"--write": {opens: true, writes: true, opts: prettierOpts, args: "path...", least: 1}, "-w": {opens: true, writes: true, opts: prettierOpts, args: "path...", least: 1},
	}}
	eslintOpts = "--max-warnings=num --quiet --ext=word --no-color --color --cache --no-inline-config --no-error-on-unmatched-pattern --report-unused-disable-directives"
	eslintTool = form{opens: true, opts: eslintOpts, args: "path...", subs: map[string]form{"--fix": {opens: true, writes: true, opts: eslintOpts, args: "path..."}}}
	tscOpts    = "--pretty --strict --skipLibCheck --listFiles --diagnostics --extendedDiagnostics --noUnusedLocals --noUnusedParameters -p=path --project=path"
	tscTool    = form{subs: map[string]form{"--noEmit": {opens: true, opts: tscOpts, args: "source..."}, "-noEmit": {opens: true, opts: tscOpts, args: "source..."}}}
	rustfmt    = form{opens: true, writes: true, opts: "-vq --edition=num --verbose --quiet", args: "source...", least: 1, subs: map[string]form{
		"--check": {opens: true, opts: "-vql --edition=num --verbose --quiet --files-with-diff", args: "source...", least: 1},
	}}
)

const (
	crates = "-r -v -q -p=crate -j=num -F=crate --release --package=crate --exclude=crate --workspace --all --lib --bins --bin=crate --examples --example=crate --tests --test=crate --benches --bench=crate " +
		"--all-targets --features=word --all-features --no-default-features --locked --offline --frozen --keep-going --jobs=num --message-format=word --verbose --quiet --color=word --profile=crate --ignore-rust-version "
	cargoFmt = "-vq --all -p=crate --package=crate --verbose --quiet"
)

var (
	libtest = form{args: "text...", opts: "-q --nocapture --no-capture --test-threads=num --ignored --include-ignored --exact --show-output --quiet --skip=text --color=word"}
	lints   = form{opts: "-A=crate -D=crate -W=crate -F=crate --cap-lints=word"}
)

var cargoTool = form{
	subs: map[string]form{
		"test":   {opens: true, writes: true, opts: crates + "--no-fail-fast --doc", args: "text", after: &libtest},
		"build":  {opens: true, writes: true, opts: crates},
		"check":  {opens: true, writes: true, opts: crates},
		"clippy": {opens: true, writes: true, opts: crates + "--no-deps", after: &lints},
		"doc":    {opens: true, writes: true, opts: crates + "--no-deps --document-private-items"},
		"tree":   {opens: true, opts: "-d -e=word -i=crate -p=crate -F=crate --package=crate --workspace --depth=num --duplicates --edges=word --prefix=word --features=word --all-features --no-default-features --locked --offline --frozen"},
		"fmt": {opens: true, writes: true, opts: cargoFmt, subs: map[string]form{
			"--check": {opens: true, opts: cargoFmt}, "--all": {opens: true, writes: true, opts: cargoFmt, subs: map[string]form{"--check": {opens: true, opts: cargoFmt}}},
		}},
		"metadata": {opens: true, opts: "-q --no-deps --format-version=num --all-features --offline --locked --frozen"},
	},
	never: merge(map[string]string{
		"publishes": "publish owner yank", "handles credentials": "login logout", "installs outside the workspace": "install", "changes what is installed": "uninstall", "runs fetched code": "init new",
	}),
}

var pytest = form{
	opens: true, writes: true, args: "tests...",
	opts: "-qvxsl -k=select -m=select -n=word -r[word] --quiet --verbose --exitfirst --maxfail=num --tb=word --lf --last-failed --ff --failed-first --nf --sw --stepwise --durations=num --durations-min=num " +
		"--no-header --no-summary --showlocals --capture=word --color=word --disable-warnings --disable-pytest-warnings --strict-markers --strict-config --ignore=path --deselect=text " +
		"--timeout=num --no-cov --runxfail",
}

var (
	mypy = form{
		opens: true, args: "path...",
		opts: "-v -p=word -m=word --strict --ignore-missing-imports --show-error-codes --no-error-summary --pretty --no-incremental --follow-imports=word --disallow-untyped-defs --check-untyped-defs " +
			"--warn-unused-ignores --warn-return-any --explicit-package-bases --namespace-packages --exclude=text --python-version=num --no-color-output --show-column-numbers",
	}
	flake8 = form{opens: true, args: "path...", opts: "-qv --count --statistics --show-source --max-line-length=num --max-complexity=num --select=word --ignore=word --extend-ignore=word --exclude=path --format=word -j=num --jobs=num"}
	python = form{subs: map[string]form{"-m": {subs: map[string]form{
		"pytest": pytest, "mypy": mypy, "ruff": ruffTool, "black": blackTool, "flake8": flake8,
		"unittest": {opens: true, writes: true, opts: "-vqfbc -k=text --verbose --quiet --failfast --buffer --locals", args: "units..."}, // it imports them
	}}}}
)

var nodeTool = form{
	subs: map[string]form{
		"ls": {opens: true, opts: "--depth=num --all --json --long", args: "word..."}, "list": {opens: true, opts: "--depth=num --all --json --long", args: "word..."},
	},
	never: merge(map[string]string{
		"runs any program": "exec x dlx explore", "runs fetched code": "create init innit", "publishes": "publish unpublish", "changes how it runs": "config set c", "reaches outside": "link",
		"handles credentials": "login logout adduser token", "runs any code": "node", "changes scripts": "pkg", "opens an editor": "edit",
	}),
}

var runners = form{never: merge(map[string]string{
	"runs any program": "run exec shell", "runs fetched code": "tool x", "publishes": "publish", "changes how it runs": "config",
})}

// gh reads its current repository: -R, a search and a URL as its operand name others, which the user's token opens, or
// another host.
const ghList = "-L=num -s=word -l=label -A=word -a=word --limit=num --state=word --label=label --author=word --assignee=word --base=ref --head=ref --draft --json=word"

var ghTool = form{
	subs: map[string]form{
		"pr": {subs: map[string]form{
			"view": {opens: true, opts: "-c --comments --json=word", args: "ref"}, "list": {opens: true, opts: ghList}, "status": {opens: true},
			"diff": {opens: true, opts: "--name-only --patch --color=word", args: "ref"}, "checks": {opens: true, opts: "--required --json=word", args: "ref"},
		}},
		"issue": {
			subs:  map[string]form{"view": {opens: true, opts: "-c --comments --json=word", args: "ref"}, "list": {opens: true, opts: ghList}, "status": {opens: true}},
			never: map[string]string{"delete": "deletes"},
		},
		"run": {
			subs:  map[string]form{"view": {opens: true, opts: "-v -j=word --log --log-failed --json=word --verbose --exit-status", args: "ref"}, "list": {opens: true, opts: ghList + " -b=ref -w=label --branch=ref --workflow=label"}},
			never: map[string]string{"delete": "deletes"},
		},
	},
	never: merge(map[string]string{
		"handles credentials": "auth secret ssh-key gpg-key", "runs any command": "alias", "runs foreign code": "extension", "may change anything": "api", "reaches another machine": "codespace",
		"changes what it runs": "config", "may delete or publish": "repo", "publishes": "release gist", "runs workflows": "workflow",
	}),
}

var dockerTool = form{
	subs: map[string]form{
		"ps":      {opens: true, opts: "-alqs -n=num -f=text --all --latest --quiet --size --last=num --filter=text --format=text --no-trunc"},
		"images":  {opens: true, opts: "-aq -f=text --all --quiet --filter=text --format=text --no-trunc --digests", args: "text"},
		"version": {opens: true, opts: "-f=text --format=text"},
	},
	never: merge(map[string]string{
		"runs any program": "run exec create", "may run any program": "compose container", "copies files out": "cp", "handles credentials": "login", "publishes": "push", "deletes": "rm rmi system",
		"may delete": "volume", "may write anywhere": "buildx", "reaches other hosts": "context swarm", "runs foreign code": "plugin", "ends containers": "kill",
	}),
}

// Tools that build, test and check.
var buildTools = map[string]form{
	"go": goTool, "gofmt": gofmtTool, "gofumpt": gofumptTool, "goimports": goimportTool,
	"staticcheck": {opens: true, style: dash, opts: "-tests -checks=word -f=word -tags=word -go=word -fail=word -show-ignored -explain=word", args: "pkg..."},
	"cargo":       cargoTool, "rustfmt": rustfmt,
	"python": python, "python3": python, "pytest": pytest, "mypy": mypy, "ruff": ruffTool, "black": blackTool, "flake8": flake8,
	"npm": nodeTool, "pnpm": nodeTool, "yarn": {never: nodeTool.never}, // yarn runs an unknown word as a script
	"eslint": eslintTool, "prettier": prettierTool, "tsc": tscTool,
	"bun": {subs: map[string]form{"test": none, "install": none, "run": none, "build": none}, never: map[string]string{"*": "runs any code"}},
	"uv":  runners, "poetry": runners, "pipenv": runners, "pdm": runners, "hatch": runners, "rye": runners, "bundle": runners, "bazel": runners, "mise": runners, "asdf": runners, "direnv": runners,
	"docker": dockerTool, "gh": ghTool,
	"shellcheck": {opens: true, opts: "-s=word -e=word -f=word -i=word -o=word -S=word -C[word] --severity=word --shell=word --exclude=word --include=word --format=word", args: "path..."},
}
