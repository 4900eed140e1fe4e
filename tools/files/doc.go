// Package files gives tools access to the files of a workspace: which file a path means, whether it may be touched,
// reading, editing, searching, and replacing a file whole or not at all.
//
// It also knows which files programs obey by themselves and what git runs because a repository says so. It does not
// decide; package permission does.
package files
