package host

import "github.com/charmbracelet/colorprofile"

// profile returns how many colours the screen's terminal shows. It uses only what the screen said: the framework by
// itself would ask the tmux of the host's own environment.
func (s *client) profile() colorprofile.Profile {
	p := colorprofile.Env(s.hello.Env)
	if p <= colorprofile.ASCII { // no colours are wanted
		return p
	}
	if s.hello.Colors {
		return colorprofile.TrueColor
	}
	return max(p, colorprofile.Terminfo(s.hello.Getenv("TERM")))
}
