package agents_test

import (
	"testing"

	"fantail/inbox"
)

// TestContext: what a context consists of is taken apart by kind, with what the
// messages in it cost; what a summary stands for is no longer part of it.
// Spec: O-74, O-82.
func TestContext(t *testing.T) {
	m := &model{Reply: summing}
	w := open(t, m, setting{})
	main := w.Main()
	look := func() (parts map[string][2]int, mail [2]int) {
		t.Helper()
		c, err := w.Pool.Records.Context(t.Context(), main)
		check(t, err)
		parts = map[string][2]int{}
		for _, p := range c.Parts {
			parts[p.What] = [2]int{p.Items, p.Tokens}
		}
		if c.Window != 100_000 || c.Model != "test/one" {
			t.Errorf("it is %+v", c)
		}
		return parts, [2]int{c.Mail, c.MailTokens}
	}
	parts, mail := look()
	if len(parts) != 2 || parts["tools"][0] < 5 || parts["system prompt"][1] == 0 || mail != [2]int{} {
		t.Errorf("an empty one: %v, mail %v", parts, mail)
	}
	w.Prompt("one")
	w.Settle()
	for range 2 {
		_, err := w.Pool.Letters.Send(t.Context(), main, "main", "some words of mail", "")
		check(t, err)
	}
	_, _, err := w.Pool.Pickup.Check(t.Context(), main, inbox.Query{})
	check(t, err)
	parts, mail = look()
	if parts["prompts"][0] != 1 || parts["answers"][0] != 1 || parts["mail"][0] != 2 || mail[0] != 2 || mail[1] == 0 || mail[1] != parts["mail"][1] {
		t.Errorf("with mail: %v, mail %v", parts, mail)
	}
	w.Prompt("two")
	w.Settle()
	check(t, w.Pool.Compact(t.Context(), main, ""))
	parts, mail = look()
	if len(parts) != 3 || parts["summary"][0] != 1 || parts["summary"][1] == 0 || mail[0] != 0 {
		t.Errorf("compacted: %v, mail %v", parts, mail)
	}
}
