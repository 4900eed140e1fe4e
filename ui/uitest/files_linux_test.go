package uitest_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"fantail/ui/uitest"
)

// A program nobody uses tells within five seconds that somebody changed the database's
// files (torture M26).
func TestIdle_tellsOfChangedFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		log := filepath.Join(s.Home.Data, "fantail.db-wal")
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		s.Wait(5 * time.Second)
		s.See("Somebody changed the database's files", "-wal was deleted", "put back the log or a backup")
		if _, err := os.Stat(log); err == nil {
			t.Error("it is there again")
		}
	})
}
