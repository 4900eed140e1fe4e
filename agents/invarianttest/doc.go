// Package invarianttest holds what must be true of the rows of a database, whatever happened.
package invarianttest
