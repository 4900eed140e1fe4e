package files

import (
	"syscall"
	"time"
)

// changedAt is when the inode last changed.
func changedAt(s *syscall.Stat_t) time.Time { return time.Unix(s.Ctim.Unix()) }
