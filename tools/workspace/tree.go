// Package workspace is the files as the tools of one agent may touch them.
//
// Does: judge which file a path means and whether it may be touched ([Tree.Target]), open what was judged without
// races, replace a file whole or not at all, walk what git does not ignore ([Walk]), and remember how files were when
// they were read ([Seen]).
//
// Does not: decide (permit does; a [Target] tells it what is touched), know what a file is read or written for, or run
// another program: [Walk] only says what one may be told to walk, and judges each file it names.
//
// Imports: tools/permit, tools/permit/bash, tools/permit/filenames, tools/proc.
package workspace

import "fantail/tools/proc"

// Tree is the files as one agent's tools may touch them.
type Tree struct {
	Root    string     // the workspace, absolute and resolved
	Private []string   // directories and files no tool may open
	Outputs string     // the directory of the agent's own output files, which may be read; "": none
	Home    string     // the user's home directory; "": unknown
	Umask   proc.Umask // of the files and directories that are made

	// Guards says why writing the file of that path asks in every mode; "" if it does not. nil: nobody knows of any.
	Guards func(abs string) string
	// Barred says why searches pass over a path, and why a command that would read it asks; nil: over none.
	Barred func(path string) string
}
