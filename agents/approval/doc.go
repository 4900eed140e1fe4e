// Package approval manages the questions that await a human, and the rules that are in force.
package approval
