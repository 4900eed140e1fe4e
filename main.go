package main

import (
	"fmt"
	"os"

	"fantail/ui/cli"
)

func main() {
	guard := cli.NewGuard(os.Stderr, os.Environ(), os.Exit)
	defer guard.Catch("main")
	_, err := cli.Parse(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fantail:", err)
	}
	os.Exit(cli.Code(err))
}
