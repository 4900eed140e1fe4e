// Package abreast runs several things at once that begin in their order.
//
// Does: start each, let it begin once the one before it has, wait for all, and return the first error in their order.
//
// Does not: know what runs, bound how many do.
//
// Imports: .
package abreast

import "sync"

// Run carries out n things at once, each in a goroutine that start begins. run gets a function that it calls with what has
// to happen in order: that of each waits until that of the one before it is over. What never calls it blocks nobody.
func Run(n int, start func(i int, f func()), run func(i int, line func(begin func())) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	before := make(chan struct{})
	close(before)
	for i := range n {
		all.Add(1)
		// Each closes a channel of its own once it has begun, and the next one waits for that.
		mine, turn := make(chan struct{}), before
		before = mine
		start(i, func() {
			defer all.Done()
			var once sync.Once
			line := func(begin func()) {
				once.Do(func() {
					<-turn
					begin()
					close(mine)
				})
			}
			errs[i] = run(i, line)
			line(func() {}) // if it never began
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
