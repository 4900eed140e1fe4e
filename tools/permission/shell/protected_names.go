package shell

import "strings"

// configuring are files that say what this program runs once the user agrees: writing them asks in every mode.
var configuring = names([][2]string{
	{"what this program runs once you trust it", ".claude/settings.json,.claude/settings.local.json,.fantail/config.toml,.mcp.json"},
})

// obeyed are files that agents take for instructions: writing them asks in every mode.
var obeyed = names([][2]string{
	{"instructions that agents obey", "agents.md,agents.override.md,agents.local.md,agent.md,.agents.md,claude.md,claude.local.md,gemini.md,qwen.md,crush.md,opencode.md,codex.md,warp.md," +
		"copilot-instructions.md,*.instructions.md,*.prompt.md,*.chatmode.md,*.agent.md,skill.md,.cursorrules,.windsurfrules,.clinerules,.roorules,.roorules-*,.goosehints,.rules,.augment-guidelines,replit.md,airules.md"},
})

// obeyedPlaces are directories in which every file is obeyed.
var obeyedPlaces = names([][2]string{
	{"rules under which agents work", ".fantail"},
	{"what agents are and obey", ".agents,.agent,.windsurf,.clinerules,.roo,.kilocode,.junie,.amazonq,.augment,.cursor/rules,.cursor/agents,.cursor/commands," +
		".github/instructions,.github/prompts,.github/chatmodes,.github/agents,.claude/agents,.claude/commands,.claude/skills,.claude/rules,.codex/skills,.codex/prompts," +
		".gemini/commands,.gemini/skills,.opencode/agent,.opencode/agents,.opencode/command,.opencode/commands,.opencode/skills,.trae/rules,.kiro/steering,.continue/rules,.openhands/microagents,.openhands/skills,.factory/droids,.factory/commands"},
})

// selfRun are files that a program runs or obeys by itself when somebody opens, enters or lists a directory, logs in,
// or calls a tool for something else. A script that runs only when it is called is ordinary source code.
var selfRun = names([][2]string{
	{"what git runs", ".gitattributes,.gitconfig,.gitconfig.*,.lfsconfig"},
	{"what version control runs", ".hgrc,hgrc,.hg/hgrc-not-shared,.hgsub,.hgsubstate,.jj/config.toml,.jj/workspace-config.toml,.jj/repo/config.toml,.sl/config"},
	{"hooks that run by themselves", ".pre-commit-config.y*ml,lefthook*.y*ml,lefthook*.toml,lefthook*.json,.lefthook*,.huskyrc*,.lintstagedrc*," +
		".simple-git-hooks.*,simple-git-hooks.*,.overcommit.yml"},
	{"what runs when a directory is entered", ".envrc,.env.leave,.direnvrc,direnv.toml,mise.toml,mise.*.toml,.mise*.toml,.tool-versions,.rvmrc,devenv.nix,.autoenv,.autoenv.zsh,.autoenv_leave.zsh"},
	{"what runs when a user logs in", ".bashrc*,.bash_profile,.bash_login,.bash_logout,.bash_aliases,.profile,.zshrc*,.zshenv,.zprofile,.zlogin,.zlogout,.kshrc,.mkshrc,.cshrc,.tcshrc,.inputrc,.xprofile,.xinitrc,.xsession,.xsessionrc,.pam_environment,.tmux.conf,.screenrc"},
	{"what editors run", "*.code-workspace,.gitpod*,.replit,replit.nix,.stackblitzrc,.devcontainer.json,.exrc,.vimrc*,.gvimrc,.nvimrc,.nvim.lua,_vimrc,.lvimrc,.vim/coc-settings.json,.dir-locals.el,.dir-locals-2.el,.emacs,*.sublime-project,*.sublime-workspace,.ycm_extra_conf.py,.lldbinit,.gdbinit,rust-analyzer.toml,.rust-analyzer.toml,hie.yaml,.erlang,.ocamlinit,.byebugrc"},
	{"what assistants run", ".mcp.json,mcp.json,opencode.json,opencode.jsonc,.opencode*,crush.json,.crush.json,.aider.conf.y*ml,.aider.model.*,.continuerc*,.goose*,.claude.json,.claude*.json"},
	{"what a package manager or build tool obeys by itself", ".npmrc,.yarnrc,.yarnrc.yml,.pnpmrc,.pnpmfile.*,pnpmfile.*,bunfig.toml,.bunfig.toml," +
		"pip.conf,pip.ini,.condarc,.gemrc,.irbrc,.pryrc,.pdbrc,.pdbrc.py,.pythonrc,.pythonrc.py,sitecustomize.py,usercustomize.py,.bazelrc*,.bazeliskrc,.buckconfig*,rust-toolchain,rust-toolchain.toml," +
		".cargo/config,.cargo/config.toml,.bundle/config,.sbtopts,.jvmopts,.ansible.cfg,ansible.cfg,.terraformrc,.ghci,.iex.exs,.rprofile,.renviron,.wgetrc,.curlrc,.my.cnf,.psqlrc,.sqliterc,.octaverc,.sdkmanrc,.nix-shell,cargo/config"},
	{"what runs with a repository's secrets", ".gitlab-ci*.y*ml,.travis.y*ml,jenkinsfile*,azure-pipelines*.y*ml,bitbucket-pipelines.y*ml,.drone.y*ml,.woodpecker.y*ml,.cirrus.y*ml,appveyor.yml,.appveyor.yml," +
		"cloudbuild*.y*ml,buildspec*.y*ml,codemagic.yaml,bitrise.yml,.evergreen.yml"},
})

// selfRunPlaces are directories in which every file is run or obeyed by itself.
var selfRunPlaces = names([][2]string{
	{"hooks that run by themselves", ".husky,.githooks,.git-hooks,githooks,.lefthook,.lefthook-local"},
	{"what editors run", ".vscode,.vscode-insiders,.vscodium,.idea,.fleet,.zed,.nova,.vs,.devcontainer,.theia,.gitpod,.idx,.codesandbox,.nvim,.helix"},
	{"what assistants run", ".claude,.cursor,.codex,.gemini,.opencode,.crush,.continue,.goose,.qwen,.kiro,.trae,.cody,.claude-plugin,.openhands,.factory,.warp,.tabnine,.rovodev"},
	{"what a package manager or build tool obeys by itself", ".mvn,.direnv,.mise,mise/config,.yarn/releases,.yarn/plugins"},
	{"what runs with a repository's secrets", ".github/workflows,.github/actions,.circleci,.buildkite,.gitea/workflows,.forgejo/workflows,.woodpecker,.azure-pipelines,.semaphore,.tekton,.gitlab/ci"},
})

// toolRun are files that run by themselves too, but belong to a project's source, or are made by its tools: the edit
// tools ask before they write one, and a command in a sandbox may write it.
var toolRun = names([][2]string{
	{"what makes a directory a git repository", "head"},
	{"what git runs", ".gitmodules"},
	{"hooks that run by themselves", ".pre-commit-hooks.y*ml,lint-staged.config.*"},
	{"what runs when a user logs in", ".login,.logout,config.fish,config.nu,env.nu,authorized_keys,.rhosts,crontab,.forward,*.desktop"},
	{"what editors run", ".clangd,*.sublime-build,.rspec,.flake8,.golangci.*,tailwind.config.*,*.iml,*.ipr,.eslintrc*,eslint.config.*,.prettierrc*,prettier.config.*,.stylelintrc*,stylelint.config.*,.pylintrc"},
	{"what assistants run", ".aider*,.crush*"},
	{"what a package manager or build tool runs by itself", ".pnp.*,pnpm-workspace.yaml,deno.json,deno.jsonc,*.pth,.bazelversion"},
	{"commands that others run", "makefile,gnumakefile,bsdmakefile,justfile,.justfile,taskfile.y*ml,taskfile.dist.y*ml,rakefile,package.json,composer.json," +
		"netlify.toml,vercel.json,render.yaml,procfile,heroku.yml,appspec.y*ml,amplify.yml,*.mk"},
	{"a wrapper that fetches and runs a program", "gradlew,gradlew.*,mvnw,mvnw.*,gradle-wrapper.*,maven-wrapper.*,mavenwrapperdownloader.java,sbtw,millw,bazelw,gradle.properties"},
})

// toolRunPlaces are directories in which that is true for every file.
var toolRunPlaces = names([][2]string{
	{"what git runs", ".git"},
	{"what version control runs", ".hg,.svn,.bzr,.jj,.sl"},
	{"what editors run", ".vim,.emacs.d"},
	{"what assistants run", ".aider"},
	{"what a package manager or build tool runs by itself", ".yarn,.cargo,gradle/wrapper,.pnpm,.bundle,.devenv,__pycache__,.venv,node_modules,site-packages"},
	{"what runs when a user logs in", "autostart,cron.d,cron.daily,cron.hourly,cron.weekly,cron.monthly,init.d,profile.d,systemd/user,systemd/system,launchagents,launchdaemons,environment.d,fish/conf.d,fish/functions"},
})

// Obeyed says why writing the file at a path asks in every mode: agents obey its content. It returns "" if they do not.
func Obeyed(p string) string {
	if why := Configures(p); why != "" {
		return why
	}
	return placed(p, obeyed, obeyedPlaces)
}

// Configures says what the file at a path makes this program run once the user agrees; "" if nothing.
func Configures(p string) string { return placed(p, configuring, table{}) }

// SelfRun says why writing the file at a path asks where writing is free: programs run it by themselves. "" if none is
// known to.
func SelfRun(p string) string {
	if why := placed(p, selfRun, selfRunPlaces); why != "" {
		return why
	}
	return placed(p, toolRun, toolRunPlaces)
}

// Protected says why no command in a sandbox changes the file at a path: programs or agents obey it by themselves. It
// returns "" if the agent may change it.
func Protected(p string) string {
	if why := Obeyed(p); why != "" {
		return why
	}
	return placed(p, selfRun, selfRunPlaces)
}

// ProtectedDir is Protected for a directory of that name in the directory up, which is not protected itself.
func ProtectedDir(up, name string) bool {
	up, name = Fold(up), Fold(name)
	return obeyedPlaces.of(up, name) != "" || selfRunPlaces.of(up, name) != ""
}

// ProtectedFile is the same for a file that is no directory; a link may lead to a directory.
func ProtectedFile(up, name string) bool {
	if ProtectedDir(up, name) {
		return true
	}
	up, name = Fold(up), Fold(name)
	return obeyed.of(up, name) != "" || selfRun.of(up, name) != ""
}

// LeadsToProtected reports whether some protected path begins with a directory of that name.
func LeadsToProtected(name string) bool {
	name = Fold(name) + "/"
	for _, t := range []table{obeyed, obeyedPlaces, selfRun, selfRunPlaces} {
		for long := range t.exact {
			if strings.HasPrefix(long, name) {
				return true
			}
		}
	}
	return false
}
