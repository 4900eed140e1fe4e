// Package parallel has more tests run at a time where they wait for programs most of it.
//
// Does: raise the default of -parallel for a package.
//
// Does not: change what the command line says.
package parallel

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// Raise has three tests run at a time for each processor, not one. TestMain calls it before it runs them.
func Raise() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() != f.DefValue {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
