package vendor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/acp"
	"fantail/agents/acp/schema"
	"fantail/agents/llm"
	"fantail/tools"
)

// enters says who carries out the turns from now on, and how it is held.
func (c *chair) enters(s *acp.Session) string {
	who := strings.Join(c.v.o.Program.Argv, " ")
	if a := s.Agent(); a.Name != "" {
		who = tools.Line(cmp.Or(a.Title, a.Name)+" "+a.Version) + ": " + who
	}
	held := "as you, in no sandbox of this program"
	switch {
	case c.boxed && c.v.o.Holds:
		held = "in a sandbox of this program, in which its own does not work: its commands run only in a mode that does without"
	case c.boxed:
		held = "in a sandbox of this program: it writes the workspace and what it keeps, and reaches any network"
	case c.v.o.Holds:
		held += ": its own, which works in no other, holds its commands"
	}
	return fmt.Sprintf("%s carries out the turns here (%s), %s. Its tools are its own: no rule and no mode of this program judges them.", c.v.o.Name, who, held)
}

// said says to people how the agent failed.
func (c *chair) said(err error) error {
	login := (*acp.LoginError)(nil)
	if !errors.As(err, &login) {
		return err
	}
	text := "it asks you to log in first, which this program never does for you."
	switch i := slices.IndexFunc(login.Ways, func(w schema.AuthMethod) bool { return strings.TrimSpace(w.Description.V) != "" }); {
	case c.v.o.Login != "":
		text += " Run " + c.v.o.Login + " in a terminal of yours, then prompt again."
	case i >= 0:
		text += " It says: " + llm.Clip(tools.Line(login.Ways[i].Description.V), 200)
	}
	return &llm.Error{Kind: llm.Auth, Provider: c.v.o.Name, Message: text, Err: err}
}
