// Package figures measures the built program as its user meets it.
//
// Does: in benchmarks, build the program and an empty one with the same
// imports, run both on a terminal that answers as a modern one does, with a
// model server beside them, and report times, processor seconds, wake-ups and
// resident memory:
//
//	go test ./ui/uitest/figures -run xxx -bench . -benchtime 1x
//
// takes about five minutes; with -short less than one, at smaller sizes.
//
// Does not: judge a figure, for the machine decides it, or run in an ordinary
// test. It reads Linux's /proc; elsewhere its benchmarks are skipped.
//
// Imports: nothing of ours; its tests do.
package figures
