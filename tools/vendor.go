package tools

import (
	"errors"
	"strings"

	"fantail/tools/permission"
)

// vendors is the prefix of a vendor's name in the model of its agents: acp/claude.
const vendors = "acp/"

// VendorModel is the name of the model that the agents of that vendor are.
func VendorModel(vendor string) string { return vendors + vendor }

// VendorOf returns the vendor of a model that is an agent's; false: it is an ordinary model.
func VendorOf(model string) (vendor string, is bool) { return strings.CutPrefix(model, vendors) }

// To sets the agent that does the task. If the task has a model, the agent must be one from a file: it works with that
// model instead of its own.
func (t *Task) To(agent string) {
	switch {
	case agent == "":
	case t.Model == "":
		t.Model = VendorModel(agent)
	default:
		t.Agent = agent
	}
}

// abroad makes a call ask if it hands work to another vendor's agent. An agent from a file is not another vendor's.
func (t *Task) abroad(c *Call, files Skills, agent string) (of Worker, err error) {
	t.To(agent)
	name, is := VendorOf(t.Model)
	if t.Agent != "" && is {
		return of, errors.New("another vendor's agent has no other agent's model: give agent or model")
	}
	if t.Agent != "" {
		name, is = t.Agent, true
	}
	if is && files != nil {
		of, err = files.Agent(name)
	}
	switch {
	case err != nil || !is || of.File:
	case t.Agent != "":
		err = errors.New("another vendor's agent has its own models: leave model away")
	default:
		c.Action.Kind, c.Action.Vendor = permission.Abroad, name
	}
	if is {
		c.Action.About = name
	}
	return of, err
}
