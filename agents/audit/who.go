package audit

import (
	"cmp"
	"context"
)

// Human is who answers, and whose commands and modes are, where nobody knows at which screen they sit.
const Human = "the user, on a screen"

// who is the key of the name of a context's human.
type who struct{}

// As returns the context of what somebody does whom rows name so: the human at one screen of several, or the program
// itself.
func As(ctx context.Context, name string) context.Context { return context.WithValue(ctx, who{}, name) }

// Who is who does something with ctx; "": ctx does not say.
func Who(ctx context.Context) string {
	name, _ := ctx.Value(who{}).(string)
	return name
}

// named is who did something, as a row says it.
func named(who string) string { return cmp.Or(who, Human) }
