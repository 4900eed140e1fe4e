package vendors

import "testing"

// TestTwo runs once more, with version 2 of the protocol, what does not tell of version 1 alone.
func TestTwo(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"vendor": TestVendor, "mail": TestVendor_mail, "asks": TestVendor_asks, "parked": TestAsks_parked, "late": TestAsks_late,
		"asks twice": TestAsks_twice, "background": TestAsks_background, "taken back": TestAsks_takenBack, "form": TestAsks_form,
		"tools": TestVendor_tools, "models": TestModels, "models first": TestModels_first,
		"queued": TestQueued, "undo": TestUndo, "interactive": TestInteractive, "again": TestAgain,
		"flood": TestWire_flood, "hostile": TestWire_hostile, "cut": TestWire_cut,
		"unasked prompted": TestUnasked_prompted, "unasked stopped": TestUnasked_stopped, "unasked dies": TestUnasked_dies,
	} {
		t.Run(name, test)
	}
}
