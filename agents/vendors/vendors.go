// Package vendors proves that an agent whose turns another vendor's agent carries out keeps what every agent keeps.
//
// Does: run pools with a vendor whose agents are fakes: what such a turn leaves in the transcript, what becomes of mail under
// each policy, how a turn is stopped, killed, cut by time or budget, how a conversation goes on with another model and back,
// what the vendor's agent does with our tools.
//
// Does not: hold code: all of it is tests. The wire is tested beside agents/acp, what a kill -9 leaves in agents/kills.
//
// Imports: nothing; its tests import what they drive.
package vendors
