// Package app puts the program together: it opens a workspace and gives each part what it needs.
package app
