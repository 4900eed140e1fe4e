package format

import (
	"fantail/agents"
	"fantail/themes"
)

// Acts are how each act of a timeline is drawn, and what it is called.
var Acts = [...]struct {
	Sign string
	Role themes.Role
	Word string
}{
	agents.Absent:   {" ", themes.Dim, ""},
	agents.Rested:   {"·", themes.Faint, "idle"},
	agents.Stood:    {"┄", themes.Dim, "queued"},
	agents.Thought:  {"━", themes.Accent, "model"},
	agents.Called:   {"╍", themes.Tool, "tool"},
	agents.ForHuman: {"▒", themes.Warn, "waiting for you"},
}
