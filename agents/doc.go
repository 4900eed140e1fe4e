// Package agents is the Pool: it opens agents, gives each its parts, and starts the work they hand to each other.
//
// The loop of one agent is in agents/turn.
package agents
