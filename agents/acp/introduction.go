package acp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/llm"
	"fantail/tools"
)

// introduction tells the user which program runs the turns, and how it is sandboxed.
func (c *vendorSession) introduction(s *Session) string {
	who := strings.Join(c.vendor.o.Program.Argv, " ")
	if a := s.Agent(); a.Name != "" {
		who = tools.Line(cmp.Or(a.Title, a.Name)+" "+a.Version) + ": " + who
	}
	held := "as you, in no sandbox of this program"
	switch {
	case c.sandboxed && c.vendor.o.OwnSandbox:
		held = "in a sandbox of this program, in which its own does not work: its commands run only in a mode that does without"
	case c.sandboxed:
		held = "in a sandbox of this program: it writes the workspace and what it keeps, and reaches any network"
	case c.vendor.o.OwnSandbox:
		held += ": its own, which works in no other, holds its commands"
	}
	return fmt.Sprintf("%s carries out the turns here (%s), %s. Its tools are its own: no rule and no mode of this program judges them.", c.vendor.o.Name, who, held)
}

// userError returns the error that the user sees if the agent failed.
func (c *vendorSession) userError(err error) error {
	login := (*LoginError)(nil)
	if !errors.As(err, &login) {
		return err
	}
	text := "it asks you to log in first, which this program never does for you."
	switch i := slices.IndexFunc(login.AuthMethods, func(w AuthMethod) bool { return strings.TrimSpace(w.Description.V) != "" }); {
	case c.vendor.o.Login != "":
		text += " Run " + c.vendor.o.Login + " in a terminal of yours, then prompt again."
	case i >= 0:
		text += " It says: " + llm.Clip(tools.Line(login.AuthMethods[i].Description.V), 200)
	}
	return &llm.Error{Kind: llm.Auth, Provider: c.vendor.o.Name, Message: text, Err: err}
}
