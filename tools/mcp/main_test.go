package mcp

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"fantail/.ci/parallel"
)

// TestMain is the hostile server too, where a test starts it as its child, and the client that the conformance suite starts.
func TestMain(m *testing.M) {
	if how := os.Getenv("FANTAIL_TEST_SERVER"); how != "" {
		misbehave(how)
		os.Exit(0)
	}
	if os.Getenv(conforming) != "" {
		if err := conform(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	parallel.Raise()
	goleak.VerifyTestMain(m)
}
