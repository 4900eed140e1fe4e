// Package books proves that the books balance whatever is done to a pool.
//
// Does: drive pools with random operations, crashes among them, and after each of them compare tasks, messages, turns and
// entries: what started has exactly one message or runs, nothing is taken or told twice, nothing is lost.
//
// Does not: hold code: all of it is tests. What single operations do is tested beside the pool.
//
// Imports: nothing; its tests import what they drive.
package books
