package mcp

import (
	"fmt"
	"mime"

	"fantail/tools"
	"fantail/tools/picture"
)

// mostKeeps is how many parts of a result are kept that are no text.
const mostKeeps = 16

// keeper is told of a part of a result that is no text, and says in its place what it is and where it went.
type keeper func(what, sort string, data []byte) string

// named keeps nothing.
func named(what, sort string, data []byte) string {
	return fmt.Sprintf("[%s (%s, %d bytes), which is not shown here]", what, sorted(sort), len(data))
}

// sorted is a sort of data as the server names it, if that is one.
func sorted(sort string) string {
	if is, _, err := mime.ParseMediaType(sort); err == nil && len(is) < 100 {
		return is
	}
	return "of no sort that is known"
}

// keeps are the parts of a call's result that are no text, in files.
type keeps struct {
	env   *tools.Env
	id    string
	n     int
	shows []picture.Image // those that models take
}

// keep keeps a part. What it is decides its bytes, and not what the server says.
func (k *keeps) keep(what, sort string, data []byte) string {
	if k.n++; k.n > mostKeeps || k.env.Outputs == "" {
		return named(what, sort, data)
	}
	i, not := picture.Of(data)
	if not == nil {
		sort = i.Type
	}
	file, err := picture.Keep(k.env.Outputs, k.id, sorted(sort), data)
	switch {
	case err != nil:
		return fmt.Sprintf("[%s (%s, %d bytes), which could not be kept: %v]", what, sorted(sort), len(data), err)
	case not == nil:
		i.File = file
		k.shows = append(k.shows, i)
		return fmt.Sprintf("[%s (%s, %d×%d, %d bytes), kept in %s]", what, i.Type, i.Width, i.Height, len(data), file)
	case what == "an image":
		return fmt.Sprintf("[%s (%s, %d bytes), kept in %s, not shown: %v]", what, sorted(sort), len(data), file, not)
	}
	return fmt.Sprintf("[%s (%s, %d bytes), kept in %s]", what, sorted(sort), len(data), file)
}
