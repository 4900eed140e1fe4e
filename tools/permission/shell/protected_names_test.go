package shell

import (
	"strings"
	"testing"
)

// TestSelfRun: files that run by themselves when somebody opens, enters or lists a directory, in upper and lower case;
// a file that runs only when it is called is source code.
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

// TestObeyed: files that agents take for instructions ask in every mode, and no rule covers them.
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

// TestProtected: files that no command of an agent changes, at any depth, in upper and lower case; and files that it
// may change.
func TestProtected(t *testing.T) {
	protected := strings.Fields(`
		.gitconfig .lfsconfig .agents .agents/x.md .fantail .fantail/config.toml .claude .claude/settings.json .codex .cursor .gemini .opencode .crush .mcp.json .aider.conf.yml .windsurf .clinerules
		AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md CRUSH.md .cursorrules .windsurfrules .envrc .direnv .env.leave mise.toml .mise.toml .mise .tool-versions
		.vscode .vscode/tasks.json .idea .zed .fleet .devcontainer .devcontainer.json .nvim.lua .nvimrc .exrc .vimrc .dir-locals.el .husky .husky/pre-commit .githooks .lefthook lefthook.yml .pre-commit-config.yaml
		.bashrc .bash_profile .profile .zshrc .zshenv .zprofile .cargo/config.toml .cargo/config .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs .gitattributes x.code-workspace
		.github/copilot-instructions.md .github/instructions .github/instructions/go.instructions.md .github/workflows .github/workflows/ci.yml .github/actions/a/action.yml .github/prompts/x.prompt.md opencode.json opencode.jsonc
		.roo .roo/rules/x.md .roorules .kiro .kiro/steering/x.md .junie .junie/guidelines.md .hg/hgrc .hg/hgrc-not-shared .jj/repo/config.toml .jj/workspace-config.toml .pdbrc .irbrc .pryrc .gdbinit .lldbinit .ghci .iex.exs .rprofile
		.amazonq/rules/x.md .augment-guidelines .goosehints .kilocode/rules/x.md .trae/rules/x.md .continue/rules/x.md .openhands/setup.sh .qwen/settings.json QWEN.md AGENT.md .rules crush.json .crush.json mcp.json
		.circleci/config.yml .gitlab-ci.yml .buildkite/pipeline.yml Jenkinsfile azure-pipelines.yml .drone.yml .gitea/workflows/x.yml .forgejo/workflows/x.yml .travis.yml bunfig.toml pip.conf sitecustomize.py .bazelrc rust-toolchain.toml ansible.cfg
		.yarn/releases/yarn-4.cjs .yarn/plugins/x.cjs .mvn/jvm.config .mvn/extensions.xml .bundle/config .rvmrc .autoenv .gitpod.yml .emacs .ycm_extra_conf.py hie.yaml .curlrc .wgetrc .psqlrc .sqliterc`)
	for _, p := range protected {
		for _, q := range []string{p, "sub/" + p, "deep/er/" + p, strings.ToUpper(p)} {
			if Protected(q) == "" {
				t.Errorf("a command may change %s", q)
			}
		}
	}
	own := strings.Fields(`
		Makefile package.json package-lock.json justfile Taskfile.yml Rakefile composer.json main.go main_test.go tests/test_x.py conftest.py scripts/build.sh setup.py pyproject.toml Cargo.toml go.mod pnpm-workspace.yaml deno.json
		.gitignore .gitmodules .dockerignore Dockerfile tsconfig.json .eslintrc.js eslint.config.mjs .prettierrc tailwind.config.js .golangci.yml .flake8 .editorconfig gradlew mvnw gradle/wrapper/gradle-wrapper.jar HEAD
		.git/index .git/HEAD .git/refs/heads/x .hg/store/x .jj/repo/op_store/x .yarn/cache/x.zip .yarn/install-state.gz .cargo/registry/x .bundle/cache/x .venv/bin/python node_modules/x/index.js __pycache__/x.pyc lib/x.pth
		.github/dependabot.yml .github/CODEOWNERS .github/ISSUE_TEMPLATE/x.md docs/agents/x.md README.md x.desktop debian/init.d/x .crush.log .aider.chat.history.md netlify.toml Procfile`)
	for _, p := range own {
		if why := Protected(p); why != "" {
			t.Errorf("a command must not change %s: %s", p, why)
		}
	}
	t.Logf("%d that no command changes, %d that are the agent's", len(protected), len(own))
}
