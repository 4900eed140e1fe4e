package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// ListFlags prints a line for each flag.
func ListFlags(out io.Writer, fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		short := "    "
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		value, text := pflag.UnquoteUsage(f)
		fmt.Fprintf(out, "  %s%-26s %s\n", short, strings.TrimRight("--"+f.Name+" "+value, " "), text)
	})
}

// Misspelt turns a flag error into a usage error that suggests the nearest flag.
func Misspelt(fs *pflag.FlagSet, err error) error {
	var absent *pflag.NotExistError
	if !errors.As(err, &absent) {
		return Misused("%v", err)
	}
	var names []string
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return Misused("%v%s", err, Meant("--"+strings.TrimLeft(absent.GetSpecifiedName(), "-"), names))
}
