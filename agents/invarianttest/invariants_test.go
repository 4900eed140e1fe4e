package invarianttest

import (
	"testing"

	"go.uber.org/goleak"

	"fantail/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Memory()
	goleak.VerifyTestMain(m)
}
