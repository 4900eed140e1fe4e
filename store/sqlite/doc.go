// Package sqlite opens a SQLite file with one writer and a few readers, and runs hooks after a commit. It knows no
// table.
package sqlite
