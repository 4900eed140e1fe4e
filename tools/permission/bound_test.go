package permission

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// disk is a workspace's files as a test lays them out.
type disk map[string]Stamp

func (d disk) look(wanted func(string) bool) map[string]Stamp {
	out := map[string]Stamp{}
	for p, s := range d {
		if wanted(p) {
			out[p] = s
		}
	}
	return out
}

// write is a write of now, as an editor does it: another inode.
func (d disk) write(p string) { d[p] = Stamp{Ino: d[p].Ino + 100, Changed: time.Now()} }

// TestDecide_rulesAreBoundToWhatTheyRun: for each kind of program, a rule asks again once an agent wrote a file that
// the program runs, in whatever way; it does not for sources.
func TestDecide_rulesAreBoundToWhatTheyRun(t *testing.T) {
	for _, c := range []struct{ command, runs, free string }{
		{"make", "Makefile sub/Makefile rules.mk GNUmakefile", "main.c src/x.go"},
		{"make test", "Makefile build/rules.inc scripts/build.sh", "x_test.c"},
		{"npm ci", "package-lock.json web/package.json scripts/post.sh", "src/a.ts"},
		{"pnpm install", "pnpm-lock.yaml", "src/a.ts"},
		{"cargo build --locked", "Cargo.lock", "src/lib.rs"},
		{"tsc", "tsconfig.json tsconfig.build.json web/base.tsconfig.json", "src/a.ts"},
		{"tsc --noEmit", "tsconfig.json", "src/a.ts"},
		{"golangci-lint run", ".golangci.yml .golangci.toml", "main.go"},
		{"uv sync", "pyproject.toml uv.lock setup.py", "app.py"},
		{"bundle install", "Gemfile Gemfile.lock x.gemspec", "app.rb"},
		{"docker-compose up", "docker-compose.yml compose.override.yaml Dockerfile", "main.go"},
		{"air", ".air.toml air.toml", "main.go airport.go"},
		{"vagrant up", "Vagrantfile .vagrant/x", "main.go"},
		{"buf generate", "buf.gen.yaml buf.yaml", "x.proto buffer.go"},
		{"goreleaser check", ".goreleaser.yml", "main.go"},
		{"terraform plan", "main.tf mod/x.tf prod.auto.tfvars", "main.go"},
		{"go test ./...", "x_test.go sub/deep/y_test.go", "main.go sub/x.go go.mod testdata/x.txt"},
		{"go vet ./...", "x_test.go", "main.go"},
		{"go generate ./...", "gen.go", "README.md"},
		{"npm test", "package.json sub/package.json src/a.test.ts src/a.spec.jsx jest.config.js __tests__/x.js test/helper.js", "src/a.ts index.js"},
		{"npm run lint", "package.json", "src/a.ts"},
		{"pnpm test", "package.json", "src/a.ts"},
		{"yarn test", "package.json .yarnrc.yml .yarn/releases/y.cjs", "src/a.ts"},
		{"./gradlew test", "gradlew build.gradle app/build.gradle.kts settings.gradle gradle.properties gradle/wrapper/gradle-wrapper.properties src/test/java/XTest.java", "src/main/java/X.java"},
		{"./mvnw verify", "mvnw pom.xml .mvn/jvm.config src/test/java/XTest.java", "src/main/java/X.java"},
		{"cargo test", "build.rs Cargo.toml .cargo/config.toml tests/it.rs", "src/lib.rs"},
		{"cargo build", "build.rs sub/build.rs", "src/main.rs"},
		{"pytest", "conftest.py tests/test_x.py sub/conftest.py pytest.ini tests/helper.py x_test.py", "app.py"},
		{"python3 -m pytest -q", "conftest.py tests/test_x.py", "app.py"},
		{"just build", "justfile", "main.go"},
		{"task build", "Taskfile.yml", "main.go"},
		{"rake spec", "Rakefile lib/tasks/x.rake", "app.rb"},
		{"tox", "tox.ini conftest.py", "app.py"},
		{"mytool run deploy.yml", "deploy.yml", "other.yml"},
		{"mytool --file=conf/x.yml", "conf/x.yml", "other.yml"},
		{"git commit -m x", ".husky/pre-commit .pre-commit-config.yaml lefthook.yml package.json", "main.go"},
	} {
		for _, how := range []string{"tool", "command", "human"} {
			for _, p := range strings.Fields(c.runs + " | " + c.free) {
				if p == "|" {
					continue
				}
				name := fmt.Sprintf("%s: %s by %s", c.command, p, how)
				bindOnce(t, name, c.command, p, how, strings.Contains(" "+c.runs+" ", " "+p+" "))
			}
		}
	}
}

// bindOnce gives the rule for a command, changes a file and asks again.
func bindOnce(t *testing.T, name, command, p, how string, runs bool) {
	synctest.Test(t, func(t *testing.T) {
		d := disk{}
		for _, f := range []string{"Makefile", "x_test.go", "package.json", "main.go"} {
			d.write(f)
		}
		time.Sleep(time.Minute)
		g := gate(t, Ask)
		a := Action{Kind: Command, Command: command, Dir: root, Files: d.look}
		v := g.Decide(a)
		if v.Rule == "" {
			t.Errorf("%s: no rule is offered: %s", name, v.Reason)
			return
		}
		time.Sleep(time.Minute)
		if err := g.Allow(v.Rule); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(a); v.Decision != Allow {
			t.Errorf("%s: is not covered by its own rule %s: %s", name, v.Rule, v.Reason)
			return
		}
		time.Sleep(time.Minute)
		switch how {
		case "tool":
			g.Changes().Wrote(root + "/" + p)
			d.write(p)
		case "command":
			done := g.Changes().Runs()
			time.Sleep(time.Second)
			d.write(p)
			time.Sleep(time.Second)
			done()
		case "human":
			g.Changes().Runs()()
			time.Sleep(time.Minute)
			d.write(p)
		}
		time.Sleep(time.Minute)
		v = g.Decide(a)
		if runs = runs && how != "human"; !runs {
			if v.Decision != Allow {
				t.Errorf("%s: %s", name, v.Reason)
			}
			return
		}
		if want := p + " was changed by an agent since you allowed this"; v.Decision != AskHuman || v.Changed != want || !strings.Contains(v.Reason, want) || v.Rule == "" {
			t.Errorf("%s: %+v", name, v)
		}
		if err := g.Allow(v.Rule); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(a); v.Decision != Allow {
			t.Errorf("%s: given anew it is not covered: %s", name, v.Reason)
		}
	})
}

// A file that replaces the allowed one counts, however old it is.
func TestDecide_preparedFilesCount(t *testing.T) {
	for name, do := range map[string]func(d disk){
		"renamed over it":       func(d disk) { d["sub/Makefile"] = Stamp{Ino: 7, Changed: time.Now()} },
		"its directory swapped": func(d disk) { d["sub/Makefile"] = Stamp{Ino: 7, Changed: time.Now().Add(-time.Hour)} },
		"written in one tick": func(d disk) {
			s := d["sub/Makefile"]
			s.Size++
			d["sub/Makefile"] = s
		},
		"taken away":              func(d disk) { delete(d, "sub/Makefile") },
		"another made before it":  func(d disk) { d["sub/GNUmakefile"] = Stamp{Ino: 8, Changed: time.Now()} },
		"another moved before it": func(d disk) { d["sub/GNUmakefile"] = Stamp{Ino: 8, Changed: time.Now().Add(-time.Hour)} },
	} {
		synctest.Test(t, func(t *testing.T) {
			d := disk{}
			d.write("sub/Makefile")
			time.Sleep(2 * time.Hour)
			g := gate(t, Ask)
			a := Action{Kind: Command, Command: "cd sub && make", Dir: root, Files: d.look}
			if err := g.Allow(g.Decide(a).Rule); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			done := g.Changes().Runs()
			time.Sleep(time.Second)
			do(d)
			done()
			if v := g.Decide(a); v.Decision != AskHuman || v.Changed == "" || v.Rule != "bash(make) in sub" {
				t.Errorf("%s: %+v", name, v)
			}
		})
	}
}

// A file that changes between the question and its answer asks again.
func TestDecide_changedBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disk{}
		d.write("Makefile")
		time.Sleep(time.Minute)
		g := gate(t, Ask)
		a := Action{Kind: Command, Command: "make", Dir: root, Files: d.look}
		v := g.Decide(a)
		time.Sleep(time.Second)
		g.Changes().Wrote(root + "/Makefile")
		d.write("Makefile")
		time.Sleep(time.Second)
		if err := g.Allow(v.Rule); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(a); v.Decision != AskHuman || v.Changed == "" {
			t.Errorf("%+v", v)
		}
	})
}

// TestChanges_spans: runs are merged, and are never forgotten when there are many.
func TestChanges_spans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanges()
		var at []time.Time
		for range maxSpans + 200 {
			done := c.Runs()
			at = append(at, time.Now())
			time.Sleep(time.Second)
			done()
			time.Sleep(time.Minute)
		}
		if len(c.ran) > maxSpans {
			t.Errorf("%d spans", len(c.ran))
		}
		for _, when := range at {
			if !c.during(when) || !c.during(when.Add(time.Second)) {
				t.Fatalf("%v is forgotten", when)
			}
		}
		if c.during(time.Now()) || c.during(at[len(at)-1].Add(30*time.Second)) {
			t.Error("a time without a command counts as one")
		}
		a, b := c.Runs(), c.Runs()
		time.Sleep(time.Second)
		a()
		time.Sleep(time.Second)
		if !c.during(time.Now()) {
			t.Error("a command that runs does not count")
		}
		b()
	})
}
