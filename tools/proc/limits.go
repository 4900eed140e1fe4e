package proc

import (
	"fmt"
	"time"
)

// Limits bound a command and all processes that it started, at one time. The zero value is no limit.
type Limits struct {
	Processes int
	Memory    int64 // bytes that are really there
}

// looks is the interval between checks of the limits: use in between is not seen.
const looks = 250 * time.Millisecond

// over reports once which limit the processes of the group that pid leads have exceeded.
func (l Limits) over(pid int, ended <-chan struct{}) <-chan string {
	if l == (Limits{}) {
		return nil
	}
	said := make(chan string, 1)
	go func() {
		tick := time.NewTicker(looks)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ended:
				return
			}
			processes, memory := usage(pid)
			switch {
			case l.Processes > 0 && processes > l.Processes:
				said <- fmt.Sprintf("it had more than %d processes", l.Processes)
				return
			case l.Memory > 0 && memory > l.Memory:
				said <- fmt.Sprintf("it used more than %.1f GiB of memory", float64(l.Memory)/(1<<30))
				return
			}
		}
	}()
	return said
}
