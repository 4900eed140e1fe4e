package filenames

import (
	"strings"
	"testing"
)

// TestSelfRun: what runs by itself when somebody opens, enters or lists, in
// letters of either case; what runs only when it is called is source code.
func TestSelfRun(t *testing.T) {
	for _, p := range strings.Fields(`
		gradlew gradlew.bat sub/mvnw mvnw.cmd gradle/wrapper/gradle-wrapper.jar gradle/wrapper/gradle-wrapper.properties .mvn/wrapper/maven-wrapper.properties .mvn/extensions.xml .mvn/jvm.config
		.hg/hgrc sub/.hg/hgrc .hgrc .yarnrc.yml .yarnrc .yarn/releases/yarn-4.cjs .yarn/plugins/x.cjs .cargo/config.toml .cargo/config sub/.cargo/config .envrc a/b/.envrc
		.git/config .git/hooks/pre-commit .gitmodules .gitattributes docs/.gitattributes .vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/extensions.json x.code-workspace
		.idea/runConfigurations/a.xml .zed/tasks.json .fleet/run.json .cursor/mcp.json .mcp.json .claude/settings.json .claude/settings.local.json .codex/config.toml .gemini/settings.json
		opencode.json .opencode/plugin/x.ts .crush.json crush.json .aider.conf.yml .nvimrc .exrc .vimrc .nvim.lua .dir-locals.el .devcontainer/devcontainer.json .devcontainer.json .husky/pre-commit
		.github/workflows/ci.yml .pre-commit-config.yaml lefthook.yml lefthook-local.yaml sitecustomize.py lib/usercustomize.py .tool-versions mise.toml .mise.toml .npmrc .pnpmfile.cjs bunfig.toml
		.bazelrc rust-toolchain rust-toolchain.toml .bashrc .zshrc .profile .zshenv .config/fish/config.fish .config/autostart/x .config/systemd/user/x.service .ssh/authorized_keys
		Makefile GNUmakefile package.json justfile .eslintrc.js eslint.config.mjs .gdbinit .lldbinit __pycache__/x.pyc node_modules/.bin/eslint x.pth .circleci/config.yml gradle.properties
		HEAD fixtures/repo.git/HEAD .gitlab-ci-extra.yml Jenkinsfile.release azure-pipelines-pr.yml .gitpod.yml .replit hie.yaml .erlang .rspec .byebugrc rust-analyzer.toml .golangci.yml tailwind.config.js .flake8
		node_modules/x/index.js lib/python3.12/site-packages/evil.py x.desktop x.sublime-build .idx/dev.nix .codesandbox/tasks.json netlify.toml vercel.json Procfile cloudbuild.yaml buildspec.yml rules.mk .openhands/setup.sh .semaphore/semaphore.yml`) {
		for _, q := range []string{p, strings.ToUpper(p), "deep/er/" + p, "/abs/" + p} {
			if SelfRun(q) == "" && Obeyed(q) == "" {
				t.Errorf("%s does not run by itself", q)
			}
		}
	}
	for _, p := range strings.Fields(`
		main.go x_test.go build.rs conftest.py tests/test_x.py scripts/build.sh setup.py webpack.js src/index.ts README.md docs/agents/x.md agents/pool.go build.gradle pom.xml Cargo.toml go.mod
		head.go src/header.h replit.go procfile.go .gitignore .dockerignore Dockerfile tsconfig.json config/app.yml gradle/libs.versions.toml yarn.lock cargo/src.rs vscode/x.go hg.go mise/main.go`) {
		if why := SelfRun(p) + Obeyed(p); why != "" {
			t.Errorf("%s: %s", p, why)
		}
	}
}

// TestObeyed: what agents take for instructions asks in every mode, and no rule covers it.
func TestObeyed(t *testing.T) {
	for _, p := range strings.Fields(`
		AGENTS.md agents.md sub/AGENTS.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md .cursorrules .windsurfrules .clinerules .github/copilot-instructions.md .github/instructions/x.instructions.md
		.agents/reviewer.yml .agents/skills/x/SKILL.md .AGENTS/x sub/.agents/x.md .cursor/rules/x.mdc .claude/agents/x.md .claude/commands/x.md .claude/skills/x/SKILL.md .opencode/agent/x.md .goosehints .rules
		.augment-guidelines replit.md .trae/rules/x.md .kiro/steering/x.md .continue/rules/x.md .openhands/microagents/x.md .factory/droids/x.md agentſ.md
		.roo/rules/x.md .junie/guidelines.md AGENT.md .claude/settings.json .claude/settings.local.json sub/.claude/settings.json .fantail/config.toml .fantail/x .FANTAIL/config.toml`) {
		if Obeyed(p) == "" {
			t.Errorf("%s: nobody obeys it", p)
		}
	}
	for _, p := range []string{"agents/agents.go", "agents.go", "docs/claude.txt", "src/rules.go", ".github/workflows/ci.yml"} {
		if why := Obeyed(p); why != "" {
			t.Errorf("%s: %s", p, why)
		}
	}
}
