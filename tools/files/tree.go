package files

import "fantail/tools/proc"

// Tree is the files as one agent's tools may touch them.
type Tree struct {
	Root    string     // the workspace, absolute and resolved
	Private []string   // directories and files no tool may open
	Outputs string     // the directory of the agent's own output files, which may be read; "": none
	Home    string     // the user's home directory; "": unknown
	Umask   proc.Umask // of the files and directories that are made

	// Guards says why writing the file of that path asks in every mode; "" if it does not. nil: no file does.
	Guards func(abs string) string
	// Barred says why searches skip a path, and why a command that would read it asks; nil: no path is barred.
	Barred func(path string) string
}
