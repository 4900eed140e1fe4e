package tools

import (
	"errors"
	"strings"

	"fantail/tools/permit"
)

// vendors stands before the name of a vendor in that of the model that its agents are: acp/claude.
const vendors = "acp/"

// VendorModel is the name of the model that the agents of that vendor are.
func VendorModel(vendor string) string { return vendors + vendor }

// VendorOf is whose agent a model is; false: it is a model like others.
func VendorOf(model string) (vendor string, is bool) { return strings.CutPrefix(model, vendors) }

// To has the agent of that name do the task. Beside a model, it has to be one that a file describes: it works with that model
// instead of its own.
func (t *Task) To(agent string) {
	switch {
	case agent == "":
	case t.Model == "":
		t.Model = VendorModel(agent)
	default:
		t.Agent = agent
	}
}

// abroad makes a call that hands work to the agent of another vendor one that asks, where it does. The one that a file
// describes is none of another vendor.
func (t *Task) abroad(c *Call, files Shelf, agent string) (of Worker, err error) {
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
		c.Action.Kind, c.Action.Vendor = permit.Abroad, name
	}
	if is {
		c.Action.About = name
	}
	return of, err
}
