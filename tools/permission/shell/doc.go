// Package shell parses command lines and knows common programs: which only read, which run others, and which words are
// names of files.
package shell
