// Package format puts states, times, sizes and lists into words for people.
package format
