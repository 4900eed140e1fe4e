// Package crashtest kills processes of agents at every place and checks what is left.
package crashtest
