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

// abroad makes a call that hands work to the agent of another vendor one that asks, where it does. agent, if not empty,
// takes the place of the model: the one that a file describes is none of another vendor.
func (t *Task) abroad(c *Call, files Shelf, agent string) error {
	if agent != "" {
		if t.Model != "" {
			return errors.New("agent takes the place of model: give one of them")
		}
		t.Model = VendorModel(agent)
	}
	vendor, is := VendorOf(t.Model)
	if !is {
		return nil
	}
	c.Action.About = vendor
	if files == nil || !files.HasRole(vendor) {
		c.Action.Kind, c.Action.Vendor = permit.Abroad, vendor
	}
	return nil
}
