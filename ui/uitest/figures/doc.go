// Package figures measures the built program as its user meets it.
//
// Does: in benchmarks, build the program and an empty one with the same
// imports, run both in turn on a terminal that answers as a modern one does,
// with a model server beside them, and report times, processor seconds,
// wake-ups and resident memory of the process in the terminal and its host:
//
//	go test ./ui/uitest/figures -v -run xxx -bench . -benchtime 1x -timeout 1h
//
// takes about half an hour; with -short a few minutes, at smaller sizes. Without
// -v a table ends after ten lines. With
//
//	-args -beside PATH
//
// another build of the program takes its turns too. Figures of one table were
// measured in one run: each is a median, and each ratio the median of the
// ratios within a turn.
//
// In a test, count what the machine does not decide (memory allocated, pages of
// the database read, the program's size) and fail where a count is more than a
// tenth above that in counts.txt, or the size 3 %. Where that is right,
//
//	go test ./ui/uitest/figures -run TestCounts -args -update -why REASON
//
// accepts the counts of now and notes the reason in explained.txt.
//
// Does not: judge a figure, for the machine decides it, or measure one in an
// ordinary test. It reads Linux's /proc; elsewhere its benchmarks are skipped.
package figures
