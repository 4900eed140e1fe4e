package agents

import (
	"fantail/tools/proc"
)

// environ is the environment of an agent's commands: less where nobody attends it.
func (p *Pool) environ(i Info) []string {
	if p.o.Attended && !i.Outside && !i.Kind.Nature().Strict {
		return p.o.Environ
	}
	return proc.Bare(p.o.Environ)
}
