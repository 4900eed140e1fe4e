package schedule

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Commands that are never a check, even if the sandbox would stop them: a second barrier, by name.
var (
	destroys = []string{
		"rm", "rmdir", "shred", "dd", "fdisk", "sfdisk", "parted", "wipefs", "mkswap", "truncate",
		"shutdown", "reboot", "halt", "poweroff", "init", "telinit", "kill", "killall", "pkill",
	}
	wields = []string{"sudo", "doas", "su", "pkexec", "run0", "runuser", "setpriv", "chroot", "nsenter", "unshare"}
	wraps  = []string{"env", "xargs", "nohup", "setsid", "exec", "eval", "command", "nice", "ionice", "timeout", "stdbuf", "script", "watch", "parallel", "find", "busybox", "at", "batch", "crontab"}
	speaks = []string{
		"curl", "wget", "fetch", "http", "https", "xh", "aria2c", "nc", "ncat", "netcat", "socat", "telnet", "ssh", "scp", "sftp", "rsync", "ftp", "tftp", "lftp",
		"nslookup", "dig", "host",
	}
	shells       = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "csh", "tcsh", "pwsh"}
	interpreters = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(python|pypy|ruby|perl|php|lua|node|nodejs|deno|bun|tclsh|Rscript|osascript)[0-9.]*$`)
	})
	inline = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(-[A-Za-z]*[cers]|-p|-|--eval(=.*)?|--print(=.*)?|--command(=.*)?|--run(=.*)?|eval)$`)
	})
	sql = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(drop\s+(table|database|schema)|truncate\s+table)\b`)
	})
)

// denied says why a command can't be a check; "": it can. If host is set, it may use the network.
func denied(argv []string, host string) string {
	name, args := strings.ToLower(path.Base(argv[0])), argv[1:]
	switch {
	case slices.ContainsFunc(argv, func(a string) bool { return strings.ContainsRune(a, 0) }):
		return "it holds a NUL byte"
	case slices.Contains(destroys, name), strings.HasPrefix(name, "mkfs"):
		return name + " destroys"
	case slices.Contains(wields, name):
		return name + " runs a program as somebody else, or somewhere else"
	case slices.Contains(wraps, name):
		return name + " runs another program: name that one"
	case (slices.Contains(shells, name) || interpreters().MatchString(name)) && told(args):
		return name + " would carry out any text: put it into a script and name that"
	case host == "" && slices.Contains(speaks, name):
		return name + " reaches for a network: net=HOST gives the check one"
	case (name == "chmod" || name == "chown" || name == "chgrp") && slices.ContainsFunc(args, recursive):
		return name + " changes whole trees"
	case name == "git":
		return deniedGit(args)
	case slices.ContainsFunc(args, sql().MatchString):
		return "it drops or empties tables"
	}
	return ""
}

// told reports whether a shell or an interpreter runs code from those arguments or from its input. Arguments after a
// script belong to the script.
func told(args []string) bool {
	for _, a := range args {
		switch {
		case a == "-m", !strings.HasPrefix(a, "-") && a != "eval":
			return false
		case inline().MatchString(a):
			return true
		}
	}
	return true // it reads its input
}

func recursive(arg string) bool {
	return arg == "--recursive" || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "R")
}

// deniedGit says what harm the git command would do to the repository or elsewhere; "": none.
func deniedGit(args []string) string {
	has := func(word string) bool { return slices.Contains(args, word) }
	switch {
	case has("push"):
		return "git push publishes"
	case has("reset") && has("--hard"):
		return "git reset --hard destroys work"
	case has("clean"):
		return "git clean destroys files"
	}
	return ""
}
