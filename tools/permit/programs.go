package permit

// exact is a command whose rules name all its words.
var exact = program{}

// open is a command that only reads and has no dangerous option.
var open = program{star: true, reads: true}

var goTool = []string{
	"exec", "toolexec", "vettool", "overlay", "modfile", "pkgdir", "ldflags", "gccgoflags", "compiler", "C", "cpuprofile",
	"test.cpuprofile", "modcacherw",
}

var nodeFlags = []string{
	"prefix", "script-shell", "node-options", "userconfig", "globalconfig", "global", "cwd", "dir", "shell-emulator", "registry",
	"shell", "ignore-workspace", "location",
}

var gitOutput = []string{"output", "ext-diff", "textconv", "exec*", "upload-pack", "receive-pack"}

var nodeScripts = program{
	known: true, long: nodeFlags, short: "Cg",
	sub: map[string]program{
		"exec": {never: "runs any program"}, "x": {never: "runs any program"}, "dlx": {never: "runs any program"}, "create": {never: "runs fetched code"},
		"init": {never: "runs fetched code"}, "publish": {never: "publishes"}, "unpublish": {never: "publishes"}, "config": {never: "changes how it runs"},
		"set": {never: "changes how it runs"}, "link": {never: "reaches outside"}, "login": {never: "handles credentials"}, "logout": {never: "handles credentials"},
		"adduser": {never: "handles credentials"}, "token": {never: "handles credentials"}, "explore": {never: "runs any program"}, "node": {never: "runs any code"},
		"innit": {never: "runs fetched code"}, "c": {never: "changes how it runs"}, "pkg": {never: "changes scripts"}, "edit": {never: "opens an editor"},
	},
	rest: &exact,
}

var runners = program{
	sub: map[string]program{
		"run": {never: "runs any program"}, "exec": {never: "runs any program"}, "shell": {never: "runs any program"}, "tool": {never: "runs fetched code"},
		"x": {never: "runs fetched code"}, "publish": {never: "publishes"}, "config": {never: "changes how it runs"},
	},
	rest: &exact,
}

var pythonModules = program{
	sub: map[string]program{
		"-m": {
			sub: map[string]program{
				"pytest": pytest, "unittest": {star: true}, "mypy": mypy, "ruff": ruff, "black": black, "flake8": flake8,
				"compileall": {star: true}, "py_compile": {star: true},
			},
		},
	},
}

var (
	pytest = program{star: true, long: []string{"rootdir", "confcutdir", "override-ini", "basetemp", "config-file", "import-mode", "pdbcls", "pastebin", "debug"}, short: "cpo"}
	mypy   = program{star: true, long: []string{"python-executable", "config-file", "install-types", "custom-typing-module", "custom-typeshed-dir"}}
	ruff   = program{sub: map[string]program{"check": {star: true, long: []string{"config", "output-file"}, short: "o"}, "format": {star: true, long: []string{"config"}}}, rest: &exact}
	black  = program{star: true, long: []string{"config", "code"}, short: "c"}
	flake8 = program{star: true, long: []string{"config", "append-config", "output-file", "enable-extensions"}}
)

// programs is what is known of commands. A command that stands nowhere is
// covered by its exact words only.
var programs = map[string]program{
	"git": {
		long: gitOutput, deny: denyRemote, rest: &program{long: []string{"force*", "mirror", "delete", "hard", "recurse-submodules", "config", "template", "edit", "interactive", "patch", "prune"}, short: "fDdeip"},
		sub: map[string]program{
			"status": open, "ls-files": open, "ls-tree": open, "rev-parse": open, "rev-list": open, "describe": open, "shortlog": open,
			"merge-base": open, "name-rev": open, "count-objects": open, "whatchanged": open, "blame": open, "show-ref": open, "cherry": open, "check-ignore": open,
			"log": {star: true, reads: true}, "show": {star: true, reads: true}, "diff": {star: true, reads: true, long: []string{"no-index"}, short: "O"}, "diff-tree": {star: true, reads: true},
			"cat-file": {star: true, reads: true, long: []string{"filters", "batch*"}}, "for-each-ref": {star: true, reads: true, long: []string{"shell", "perl", "python", "tcl"}},
			"grep":   {star: true, reads: true, long: []string{"open-files-in-pager", "no-index", "untracked"}, short: "Of"},
			"branch": {star: true, long: []string{"delete", "move", "copy", "force", "edit-description", "set-upstream-to", "unset-upstream", "track"}, short: "dDmMcCfut"},
			"add":    {star: true, long: []string{"edit", "interactive", "patch", "pathspec-from-file"}, short: "eip"},
			"commit": {star: true, long: []string{"amend", "no-verify", "fixup", "squash", "edit", "template", "file", "reset-author", "author", "date", "patch", "interactive", "reuse-message", "reedit-message", "pathspec-from-file", "gpg-sign"}, short: "netcCFtpS"},
			"config": {never: "changes what git runs"}, "submodule": {never: "runs commands of the repository"}, "bisect": {never: "may run any command"},
			"rebase": {never: "may run any command"}, "filter-branch": {never: "runs any command"}, "filter-repo": {never: "runs any code"},
			"difftool": {never: "runs a tool"}, "mergetool": {never: "runs a tool"}, "clean": {never: "deletes files"}, "reset": {never: "discards work"},
			"gc": {never: "deletes history"}, "prune": {never: "deletes history"}, "update-ref": {never: "changes history"}, "update-index": {never: "changes what git sees"},
			"daemon": {never: "serves the network"}, "send-email": {never: "sends mail"}, "archive": {never: "may run a command elsewhere"}, "bundle": {never: "writes files"},
			"am": {never: "runs hooks on foreign input"}, "credential": {never: "prints credentials"}, "hook": {never: "runs hooks"}, "maintenance": {never: "schedules commands"},
			"instaweb": {never: "serves the network"}, "web--browse": {never: "opens a browser"}, "gui": {never: "opens a window"}, "citool": {never: "opens a window"},
			"replace": {never: "changes history"}, "fast-import": {never: "changes history"}, "symbolic-ref": {never: "changes history"}, "alias": {never: "runs any command"},
			"upload-pack": {never: "serves the network"}, "receive-pack": {never: "serves the network"}, "shell": {never: "runs commands"}, "help": {never: "opens a pager"},
			"remote": {deny: denyRemote, long: []string{"prune"}}, "lfs": {never: "runs filters"}, "init": {never: "may take a template with hooks"}, "clone": {never: "takes foreign configuration"},
			"cvsserver": {never: "serves the network"}, "p4": {never: "runs a tool"}, "svn": {never: "runs a tool"}, "var": {never: "prints the configuration"},
		},
	},
	"go": {
		single: true, long: goTool, deny: denyRemote, rest: &exact,
		sub: map[string]program{
			"test": {star: true}, "build": {star: true}, "vet": {star: true}, "list": {star: true}, "fmt": {star: true}, "doc": {star: true, reads: true},
			"version": {star: true}, "help": {star: true}, "env": {star: true, long: []string{"w", "u"}},
			"mod": {
				sub: map[string]program{"tidy": {star: true}, "download": {star: true}, "graph": {star: true}, "verify": {star: true}, "why": {star: true}, "vendor": {star: true}}, rest: &exact,
			},
			"telemetry": {never: "changes the user's settings"}, "bug": {never: "opens a browser"},
		},
	},
	"cargo": {
		long: []string{"config", "manifest-path", "fix", "lockfile-path"}, rest: &exact,
		sub: map[string]program{
			"test": {star: true, short: "ZC"}, "build": {star: true, short: "ZC"}, "check": {star: true, short: "ZC"}, "clippy": {star: true, short: "ZC"},
			"fmt": {star: true}, "doc": {star: true, long: []string{"open"}, short: "ZC"}, "tree": {star: true, short: "ZC"}, "metadata": {star: true, short: "ZC"},
			"publish": {never: "publishes"}, "login": {never: "handles credentials"}, "owner": {never: "publishes"}, "yank": {never: "publishes"},
			"install": {never: "installs outside the workspace"}, "uninstall": {never: "changes what is installed"},
		},
	},
	"npm": nodeScripts, "pnpm": nodeScripts, "yarn": nodeScripts,
	"bun": {
		sub:  map[string]program{"test": {long: []string{"preload", "config"}, short: "rc"}, "install": exact, "run": {long: []string{"eval", "print", "preload", "config", "shell"}, short: "eprc"}, "build": exact},
		rest: &program{never: "runs any code"},
	},
	"uv": runners, "poetry": runners, "pipenv": runners, "pdm": runners, "hatch": runners, "rye": runners, "bundle": runners, "bazel": runners, "mise": runners, "asdf": runners, "direnv": runners,
	"docker": {
		sub: map[string]program{
			"run": {never: "runs any program"}, "exec": {never: "runs any program"}, "compose": {never: "may run any program"}, "cp": {never: "copies files out"}, "create": {never: "runs any program"},
			"login": {never: "handles credentials"}, "push": {never: "publishes"}, "rm": {never: "deletes"}, "rmi": {never: "deletes"}, "system": {never: "deletes"}, "volume": {never: "may delete"},
			"ps": {star: true}, "images": {star: true}, "logs": {star: true, long: []string{"follow"}, short: "f"}, "version": {star: true}, "buildx": {never: "may write anywhere"},
			"container": {never: "may run any program"}, "context": {never: "reaches other hosts"}, "swarm": {never: "reaches other hosts"}, "plugin": {never: "runs foreign code"}, "kill": {never: "ends containers"},
		},
		rest: &exact,
	},
	"gh": {
		sub: map[string]program{
			"auth": {never: "handles credentials"}, "alias": {never: "runs any command"}, "extension": {never: "runs foreign code"}, "secret": {never: "handles credentials"}, "api": {never: "may change anything"},
			"ssh-key": {never: "handles credentials"}, "gpg-key": {never: "handles credentials"}, "codespace": {never: "reaches another machine"}, "config": {never: "changes what it runs"}, "repo": {never: "may delete or publish"},
			"release": {never: "publishes"}, "workflow": {never: "runs workflows"}, "gist": {never: "publishes"},
			"pr": {
				sub:  map[string]program{"view": {star: true, short: "w", long: []string{"web"}}, "list": {star: true, short: "w", long: []string{"web"}}, "diff": {star: true, short: "w", long: []string{"web"}}, "checks": {star: true, short: "w", long: []string{"web", "watch"}}, "status": {star: true}},
				rest: &exact,
			},
			"issue": {
				sub:  map[string]program{"view": {star: true, short: "w", long: []string{"web"}}, "list": {star: true, short: "w", long: []string{"web"}}, "status": {star: true}, "delete": {never: "deletes"}},
				rest: &exact,
			},
			"run": {
				sub:  map[string]program{"view": {star: true, short: "w", long: []string{"web"}}, "list": {star: true}, "delete": {never: "deletes"}},
				rest: &exact,
			},
		},
		rest: &exact,
	},
	"make": {known: true, long: []string{"file", "makefile", "directory", "eval", "include-dir", "environment-overrides"}, short: "fCIeE", deny: denyAssign},
	"just": {long: []string{"justfile", "working-directory", "shell*", "set", "command", "edit", "chooser", "choose", "dotenv*"}, short: "fdce", deny: denyAssign},
	"task": {long: []string{"taskfile", "dir", "global"}, short: "tdg", deny: denyAssign},
	"mage": {single: true, long: []string{"d", "w", "gocmd", "compile"}},

	"python": pythonModules, "python3": pythonModules,
	"pytest": pytest, "mypy": mypy, "ruff": ruff, "black": black, "flake8": flake8,
	"tsc": {star: true}, "prettier": {star: true, long: []string{"plugin*", "config*", "find-config-path", "ignore-path"}},
	"gofmt": {star: true, single: true, long: []string{"cpuprofile"}}, "gofumpt": {star: true, single: true, long: []string{"cpuprofile"}},
	"goimports": {star: true, single: true, long: []string{"cpuprofile", "memprofile", "trace"}}, "staticcheck": {star: true, single: true, long: []string{"debug.cpuprofile", "debug.memprofile", "debug.trace"}},
	"shellcheck": {star: true, reads: true, long: []string{"rcfile"}}, "rustfmt": {star: true, long: []string{"config*"}},
	"./gradlew": exact, "./mvnw": exact,

	"true": open, "false": open, ":": open, "pwd": open, "echo": open, "exit": open, "cd": {star: true, reads: true},
	"printf": {star: true, reads: true, short: "v"}, "test": {star: true, reads: true, deny: denyTest}, "[": {star: true, reads: true, deny: denyTest}, "sleep": open, "seq": open,
	"ls": open, "cat": open, "head": open, "wc": open, "stat": open, "du": open, "df": open,
	"tail": {star: true, reads: true, long: []string{"follow", "retry", "pid"}, short: "fF"},
	"file": {star: true, reads: true, long: []string{"compile", "magic-file", "files-from", "uncompress*"}, short: "CmfzZ"},
	"tree": {star: true, reads: true, short: "oRl", long: []string{"output"}}, "which": open, "whereis": open, "basename": open, "dirname": open,
	"realpath": open, "readlink": open, "diff": {star: true, reads: true, long: []string{"recursive", "new-file", "unidirectional-new-file"}, short: "rNP"}, "cmp": open, "comm": open, "cut": open, "tr": open, "nl": open, "tac": open, "rev": open,
	"fold": open, "column": open, "paste": open, "join": open, "expand": open, "od": open, "hexdump": open, "strings": open, "jq": {star: true, reads: true, short: "L", long: []string{"library-path"}, deny: denyJq},
	"md5sum": open, "sha1sum": open, "sha256sum": open, "sha512sum": open, "cksum": open, "b2sum": open,
	"ps": {star: true, reads: true, deny: denyPs}, "id": open, "whoami": open, "uname": open, "uptime": open, "free": open, "nproc": open, "arch": open, "groups": open,
	"date": {star: true, reads: true, long: []string{"set", "file"}, short: "sf"},
	"sort": {star: true, reads: true, long: []string{"output", "compress-program", "temporary-directory", "files0-from"}, short: "oT"},
	"uniq": {star: true, reads: true, deny: denyOutput}, "sed": {star: true, reads: true, deny: denySed},
	"grep": {star: true, reads: true, long: []string{"recursive", "dereference-recursive", "directories"}, short: "rRd"}, "egrep": {star: true, reads: true, long: []string{"recursive", "dereference-recursive", "directories"}, short: "rRd"},
	"fgrep": {star: true, reads: true, long: []string{"recursive", "dereference-recursive", "directories"}, short: "rRd"},
	"rg":    {star: true, reads: true, long: []string{"pre*", "hostname-bin", "search-zip", "unrestricted", "hidden", "no-ignore*", "follow", "ignore-file", "hyperlink-format"}, short: "zuL.", deny: denyGlob},
	"fd":    {star: true, reads: true, long: []string{"exec*", "hidden", "unrestricted", "no-ignore*", "follow", "list-details"}, short: "xXHuILl"},
	"find":  {star: true, reads: true, single: true, long: []string{"exec", "execdir", "ok", "okdir", "delete", "fprint", "fprint0", "fprintf", "fls", "files0-from", "follow", "L"}},
	"mkdir": {star: true, long: []string{"context"}, short: "Z"}, "touch": {star: true},
	"cp": exact, "mv": exact, "ln": exact, "tee": exact,
}

// risky words make a command that is not known one to ask about each time.
var risky = map[string]bool{
	"delete": true, "destroy": true, "drop": true, "purge": true, "prune": true, "remove": true, "uninstall": true, "publish": true, "deploy": true,
	"force": true, "hard": true, "exec": true, "eval": true, "execute": true, "apply": true, "rf": true, "fr": true, "command": true, "cmd": true, "c": true, "e": true, "x": true,
	"upload": true, "token": true, "login": true, "run-script": true, "shell": true,
}

// runs says of commands why no rule covers them.
var runs = merge(map[string]string{
	"runs another command": "env command builtin exec nice nohup time timeout stdbuf setsid ionice xargs parallel watch sudo doas su pkexec runuser busybox toybox " +
		"chroot unshare nsenter bwrap firejail setpriv flock taskset chrt cpulimit systemd-run at batch entr watchexec nodemon rlwrap unbuffer fakeroot " +
		"ssh-agent dbus-run-session xvfb-run caffeinate chronic torsocks proxychains proxychains4 catchsegv setarch linux32 linux64 faketime hyperfine " +
		"script expect screen tmux dtach start-stop-daemon run-parts strace ltrace gdb lldb valgrind perf npx bunx pnpx uvx pipx nix nix-shell ifne pee vipe daemonize " +
		"eatmydata retry wait-for-it dumb-init tini s6-setuidgid gosu su-exec chpst envdir softlimit",
	"runs any code": "bash sh zsh dash ksh mksh fish csh tcsh rbash ash pwsh powershell awk gawk mawk nawk ts-node tsx deno irb ghci scala groovy Rscript julia osascript " +
		"sqlite3 psql mysql mariadb mongosh redis-cli ed ex emacs vi vim nvim nano view vimdiff less more most man info pager dc bc m4 jshell erl elixir iex swipl ocaml clojure lein bb wish",
	"changes the shell": "eval source . alias unalias export declare typeset local readonly unset set shopt enable hash trap bind complete compgen compopt history fc read " +
		"mapfile readarray let getopts ulimit umask pushd popd dirs disown jobs fg bg wait suspend logout return break continue caller times",
	"deletes or destroys":              "rm rmdir shred unlink dd truncate wipefs fdisk parted mkswap mke2fs mkfs mkfs.ext4 mkfs.xfs mkfs.btrfs tar zip cpio pax rsync install",
	"changes rights or the system":     "chmod chown chgrp chattr setfacl setcap mount umount insmod rmmod modprobe sysctl systemctl service launchctl crontab useradd usermod userdel passwd visudo iptables nft ufw ip ifconfig hostname hostnamectl timedatectl swapoff swapon losetup chsh chfn update-alternatives ldconfig defaults",
	"ends processes or the machine":    "kill killall pkill xkill reboot shutdown halt poweroff init telinit",
	"reaches the network":              "curl wget http https nc ncat netcat socat telnet ssh scp sftp ftp lftp aria2c rclone mail sendmail mutt dig nslookup host ping openssl gpg ssh-keygen ssh-add ssh-copy-id rsh rlogin finger whois",
	"handles credentials":              "pass secret-tool security keyring vault op bw aws gcloud az kinit",
	"changes what is installed":        "apt apt-get dpkg yum dnf rpm pacman apk brew snap flatpak port gem cpan easy_install",
	"starts a program of the desktop":  "xdg-open open start gnome-open kde-open xterm gnome-terminal konsole code",
	"prints the environment's secrets": "printenv",
})

// merge turns reason → names into name → reason.
func merge(m map[string]string) map[string]string {
	out := map[string]string{}
	for why, names := range m {
		for start := 0; start < len(names); {
			end := start
			for end < len(names) && names[end] != ' ' {
				end++
			}
			if end > start {
				out[names[start:end]] = why
			}
			start = end + 1
		}
	}
	return out
}
