// Package crashtest kills processes of agents at every step and checks what they leave.
package crashtest
