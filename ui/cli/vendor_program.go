package cli

import (
	"os/exec"
	"slices"
)

// shellWords are words that a shell accepts as a command without a program of that name.
var shellWords = []string{
	"alias", "bg", "bind", "break", "builtin", "caller", "case", "cd", "command", "compgen", "complete", "compopt", "continue", "coproc",
	"declare", "dirs", "disown", "do", "done", "echo", "elif", "else", "enable", "esac", "eval", "exec", "exit", "export", "false", "fc", "fg",
	"fi", "for", "function", "getopts", "hash", "help", "history", "if", "jobs", "kill", "let", "local", "logout", "mapfile", "popd", "printf",
	"pushd", "pwd", "read", "readarray", "readonly", "return", "select", "set", "shift", "shopt", "source", "suspend", "test", "then", "time",
	"times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
}

// isProgram reports whether a command can begin with that word: a program in PATH, or a word of the
// shell.
func isProgram(word string) bool {
	if slices.Contains(shellWords, word) {
		return true
	}
	_, err := exec.LookPath(word)
	return err == nil
}
