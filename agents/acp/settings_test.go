package acp_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"fantail/agents/acp"
	"fantail/agents/acp/acptest"
	"fantail/agents/engine"
	"fantail/tools/proc"
)

const (
	modes      = `{"currentModeId":"bypass","availableModes":[{"id":"default","name":"Manual"},{"id":"plan"},{"id":"bypass","name":"Bypass"}]}`
	isQuestion = `{"currentModeId":"plan","availableModes":[{"id":"default"},{"id":"plan"}]}`
	own        = `[{"id":"model","category":"model","currentValue":"small","options":[{"value":"small"},{"group":"g","options":[{"value":"large"}]}]},` +
		`{"id":"reasoning","category":"thought_level","currentValue":"low","options":[{"value":"low"},{"value":"high"}]}]`
	moded = `[{"id":"approvals","category":"mode","currentValue":"bypass","options":[{"value":"default"},{"value":"bypass"}]}]`
)

// TestOpen_settles: a session gets the configured settings before its first prompt. It gets a mode in which its agent
// never asks only if that is configured.
func TestOpen_settles(t *testing.T) {
	for _, c := range []struct {
		name           string
		modes, options string // of the session
		o              acp.VendorOptions
		set            string // what was set, in its order
		note, fails    string
	}{
		{name: "nothing to set", modes: isQuestion, options: own},
		{name: "no modes at all", o: acp.VendorOptions{SafeMode: "default", BypassModes: []string{"bypass"}}},
		{name: "reckless", modes: modes, o: acp.VendorOptions{SafeMode: "default", BypassModes: []string{"bypass"}}, set: "default", note: "began in its mode bypass, in which it asks nobody, and works in its mode default instead"},
		{name: "reckless by a setting", options: moded, o: acp.VendorOptions{SafeMode: "default", BypassModes: []string{"bypass"}}, set: "approvals default", note: "works in its mode default instead"},
		{name: "reckless as configured", modes: modes, o: acp.VendorOptions{Mode: "bypass", SafeMode: "default", BypassModes: []string{"bypass"}}},
		{name: "reckless and nothing else", modes: modes, o: acp.VendorOptions{SafeMode: "ask", BypassModes: []string{"bypass"}}, fails: `would work in its mode bypass, in which it asks nobody, and has no "ask"`},
		{name: "mode", modes: isQuestion, o: acp.VendorOptions{Mode: "default"}, set: "default"},
		{name: "mode by a setting", options: moded, o: acp.VendorOptions{Mode: "default"}, set: "approvals default"},
		{name: "no such mode", modes: isQuestion, o: acp.VendorOptions{Mode: "yolo"}, fails: `fake has no mode "yolo"; it has default, plan`},
		{name: "settings", options: own, o: acp.VendorOptions{Settings: map[string]string{"fast": "", "model": "large", "thought_level": "high"}}, fails: `fake has no setting "fast"; it has model, reasoning`, set: "model large"},
		{name: "effort", options: own, o: acp.VendorOptions{Settings: map[string]string{"effort": "high"}}, set: "reasoning high"},
		{name: "settings by name and category", options: own, o: acp.VendorOptions{Settings: map[string]string{"model": "large", "thought_level": "high"}}, set: "model large, reasoning high"},
		{name: "as it is", options: own, o: acp.VendorOptions{Settings: map[string]string{"reasoning": "low"}}},
		{name: "no such value", options: own, o: acp.VendorOptions{Settings: map[string]string{"model": "huge"}}, fails: `fake has no model "huge"; it has small, large`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all sync.WaitGroup
				start := func(_ string, f func()) { all.Go(f) }
				a := &acptest.Agent{Modes: c.modes, Options: c.options}
				c.o.Name, c.o.Program.Argv = "fake", []string{"/opt/fake"}
				c.o.Start = func(proc.Spec) (acp.Process, error) {
					return acptest.Run(start, func(in io.Reader, out io.WriteCloser) { _ = a.Serve(in, out) }), nil
				}
				s := acp.NewVendor(c.o).NewSession(engine.Options{
					Name: "main", Dir: "/shop", Go: start,
					Run:  func(engine.Program) (engine.Run, error) { return engine.Run{End: func() {}}, nil },
					Load: func(context.Context) (engine.State, error) { return engine.State{}, nil },
					Save: func(context.Context, engine.State) error { return nil },
				})
				_, _, err := s.Open(t.Context(), 1)
				_, notes := s.Ended()
				s.End()
				all.Wait()
				if said := strings.Join(notes, "\n"); (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) || !strings.Contains(said, c.note) {
					t.Errorf("%v: %s", err, said)
				}
				if set := strings.Join(a.Set(), ", "); set != c.set {
					t.Errorf("it was set to %q", set)
				}
			})
		})
	}
}
