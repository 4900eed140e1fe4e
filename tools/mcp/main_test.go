package mcp

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is the hostile server too, where a test starts it as its child.
func TestMain(m *testing.M) {
	if how := os.Getenv("FANTAIL_TEST_SERVER"); how != "" {
		misbehave(how)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
