// Package kills proves what is left of a workspace whose program is killed.
//
// Does: kill the test's own program at random moments, or after each statement, while it fans work out, takes mail in a
// batch of tools, forks, compacts or streams a reply, or while another vendor's agents carry out its turns, and those too; then
// open what is left and look whether all that was acknowledged is there, once.
//
// Does not: hold code: all of it is tests. What an orderly end leaves is tested beside the pool.
//
// Imports: nothing; its tests import what they kill.
package kills
