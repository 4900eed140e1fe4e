package crashtest

import (
	"testing"

	"go.uber.org/goleak"

	"fantail/agents/agentstest"
	"fantail/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Memory()
	lives := agentstest.Lives{"fan out": fanOut, "batch": batch, "forks": forks, "streams": streams, "compacts": compacts, "vendors": vendors, "program": plays, "deaf": deaf}
	if !lives.Live() {
		goleak.VerifyTestMain(m)
	}
}
