package filenames

// configuring are files that say what this program runs once the user agrees: to write them asks in every mode.
var configuring = names([][2]string{
	{"what this program runs once you trust it", ".claude/settings.json,.claude/settings.local.json,.fantail/config.toml,.mcp.json"},
})

// obeyed are files that agents take for instructions: to write them asks in every mode.
var obeyed = names([][2]string{
	{"instructions that agents obey", "agents.md,agents.override.md,agents.local.md,agent.md,.agents.md,claude.md,claude.local.md,gemini.md,qwen.md,crush.md,opencode.md,codex.md,warp.md," +
		"copilot-instructions.md,*.instructions.md,*.prompt.md,*.chatmode.md,*.agent.md,skill.md,.cursorrules,.windsurfrules,.clinerules,.roorules,.roorules-*,.goosehints,.rules,.augment-guidelines,replit.md,airules.md"},
})

// obeyedPlaces are directories of which all files are obeyed.
var obeyedPlaces = names([][2]string{
	{"rules under which agents work", ".fantail"},
	{"what agents are and obey", ".agents,.agent,.windsurf,.clinerules,.roo,.kilocode,.junie,.amazonq,.augment,.cursor/rules,.cursor/agents,.cursor/commands," +
		".github/instructions,.github/prompts,.github/chatmodes,.github/agents,.claude/agents,.claude/commands,.claude/skills,.claude/rules,.codex/skills,.codex/prompts," +
		".gemini/commands,.gemini/skills,.opencode/agent,.opencode/agents,.opencode/command,.opencode/commands,.opencode/skills,.trae/rules,.kiro/steering,.continue/rules,.openhands/microagents,.openhands/skills,.factory/droids,.factory/commands"},
})

// selfRun are files that a program carries out by itself when somebody opens,
// enters or lists a directory, logs in, or calls a tool for something else: to
// write them asks even where writing is free. A script that runs only when it is
// called is source code like any other.
var selfRun = names([][2]string{
	{"what makes a directory a git repository", "head"},
	{"what git runs", ".gitattributes,.gitmodules,.gitconfig,.gitconfig.*,.lfsconfig"},
	{"what version control runs", ".hgrc,hgrc,.hgsub"},
	{"hooks that run by themselves", ".pre-commit-config.y*ml,.pre-commit-hooks.y*ml,lefthook*.y*ml,lefthook*.toml,lefthook*.json,.lefthook*,.huskyrc*,.lintstagedrc*," +
		"lint-staged.config.*,.simple-git-hooks.*,simple-git-hooks.*,.overcommit.yml"},
	{"what runs when a directory is entered", ".envrc,.env.leave,.direnvrc,direnv.toml,mise.toml,mise.*.toml,.mise*.toml,.tool-versions,.rvmrc,devenv.nix,.autoenv,.autoenv.zsh,.autoenv_leave.zsh"},
	{"what runs when a user logs in", ".bashrc*,.bash_profile,.bash_login,.bash_logout,.bash_aliases,.profile,.zshrc*,.zshenv,.zprofile,.zlogin,.zlogout,.kshrc,.mkshrc,.cshrc,.tcshrc,.login,.logout,.inputrc," +
		"config.fish,config.nu,env.nu,authorized_keys,.rhosts,.xprofile,.xinitrc,.xsession,.xsessionrc,.pam_environment,crontab,.screenrc,.tmux.conf,.forward,*.desktop"},
	{"what editors run", "*.code-workspace,.gitpod*,.replit,replit.nix,.stackblitzrc,.devcontainer.json,.exrc,.vimrc*,.gvimrc,.nvimrc,.nvim.lua,_vimrc,.lvimrc,.dir-locals.el,.dir-locals-2.el,.emacs,*.sublime-project,.ycm_extra_conf.py,.lldbinit,.gdbinit,.clangd,*.sublime-build,rust-analyzer.toml,.rust-analyzer.toml,hie.yaml,.erlang,.ocamlinit,.rspec,.byebugrc,.flake8,.golangci.*,tailwind.config.*,*.iml,*.ipr," +
		".eslintrc*,eslint.config.*,.prettierrc*,prettier.config.*,.stylelintrc*,stylelint.config.*,.pylintrc"},
	{"what assistants run", ".mcp.json,mcp.json,opencode.json,opencode.jsonc,.opencode*,crush.json,.crush*,.aider*,.continuerc*,.goose*,.claude.json,.claude*.json"},
	{"what a package manager or build tool runs by itself", ".npmrc,.yarnrc,.yarnrc.yml,.pnpmrc,.pnpmfile.*,pnpmfile.*,.pnp.*,bunfig.toml,.bunfig.toml,pnpm-workspace.yaml,deno.json,deno.jsonc," +
		"pip.conf,pip.ini,.condarc,.gemrc,.irbrc,.pryrc,.pdbrc,.pythonrc,sitecustomize.py,usercustomize.py,*.pth,.bazelrc*,.bazeliskrc,.bazelversion,.buckconfig*,rust-toolchain,rust-toolchain.toml," +
		".sbtopts,.jvmopts,.ansible.cfg,ansible.cfg,.terraformrc,.ghci,.iex.exs,.rprofile,.renviron,.wgetrc,.curlrc,.my.cnf,.psqlrc,.sqliterc,.octaverc,.sdkmanrc,.nix-shell,cargo/config"},
	{"commands that others run", "makefile,gnumakefile,bsdmakefile,justfile,.justfile,taskfile.y*ml,taskfile.dist.y*ml,rakefile,package.json,composer.json," +
		".gitlab-ci*.y*ml,.travis.y*ml,jenkinsfile*,azure-pipelines*.y*ml,bitbucket-pipelines.y*ml,.drone.y*ml,.woodpecker.y*ml,.cirrus.y*ml,appveyor.yml,.appveyor.yml,netlify.toml,vercel.json,render.yaml,procfile,heroku.yml,cloudbuild*.y*ml,buildspec*.y*ml,appspec.y*ml,amplify.yml,codemagic.yaml,bitrise.yml,.evergreen.yml,*.mk"},
	{"a wrapper that fetches and runs a program", "gradlew,gradlew.*,mvnw,mvnw.*,gradle-wrapper.*,maven-wrapper.*,mavenwrapperdownloader.java,sbtw,millw,bazelw,gradle.properties"},
})

// selfRunPlaces are directories of which all files run by themselves.
var selfRunPlaces = names([][2]string{
	{"what git runs", ".git"},
	{"what version control runs", ".hg,.svn,.bzr,.jj,.sl"},
	{"hooks that run by themselves", ".husky,.githooks,.git-hooks,githooks,.lefthook,.lefthook-local"},
	{"what editors run", ".vscode,.vscode-insiders,.vscodium,.idea,.fleet,.zed,.nova,.vs,.devcontainer,.theia,.gitpod,.idx,.codesandbox,.vim,.nvim,.emacs.d,.helix"},
	{"what assistants run", ".claude,.cursor,.codex,.gemini,.opencode,.crush,.continue,.goose,.qwen,.kiro,.trae,.aider,.cody,.claude-plugin,.openhands,.factory,.warp,.tabnine,.rovodev"},
	{"what a package manager or build tool runs by itself", ".yarn,.cargo,.mvn,gradle/wrapper,.pnpm,.bundle,.direnv,.mise,mise/config,.devenv,__pycache__,.venv,node_modules,site-packages"},
	{"commands that others run", ".github/workflows,.github/actions,.circleci,.buildkite,.gitea/workflows,.forgejo/workflows,.woodpecker,.azure-pipelines,.semaphore,.tekton,.gitlab/ci"},
	{"what runs when a user logs in", "autostart,cron.d,cron.daily,cron.hourly,cron.weekly,cron.monthly,init.d,profile.d,systemd/user,systemd/system,launchagents,launchdaemons,environment.d,fish/conf.d,fish/functions"},
})

// Obeyed says of a path why writing it asks in every mode: agents obey what it
// holds. "" if they do not.
func Obeyed(p string) string {
	if why := Configures(p); why != "" {
		return why
	}
	return placed(p, obeyed, obeyedPlaces)
}

// Configures says of a path what it tells this program to run once the user agrees to it; "" if nothing.
func Configures(p string) string { return placed(p, configuring, table{}) }

// SelfRun says of a path why writing it asks where writing is free: programs carry
// it out by themselves. "" if none is known to.
func SelfRun(p string) string { return placed(p, selfRun, selfRunPlaces) }
