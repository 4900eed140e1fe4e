// Package abreast has tests that wait for programs most of the time wait for several at once.
//
// Does: raise how many tests of a package run at a time.
//
// Does not: change what the command line says of that.
//
// Imports: nothing of ours. Only tests import it.
package abreast

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// Wait has three tests run at a time for each processor, not one. TestMain calls it before it runs them.
func Wait() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() != f.DefValue {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
