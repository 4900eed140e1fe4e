package audit

import (
	"cmp"
	"context"
)

// Human is the name of the human if their screen is not known.
const Human = "the user, on a screen"

// who is the key of the name of a context's human.
type who struct{}

// As returns a context for actions of that name: of the human at one of several screens, or of the program itself.
func As(ctx context.Context, name string) context.Context { return context.WithValue(ctx, who{}, name) }

// Who returns the name that As set; "": none.
func Who(ctx context.Context) string {
	name, _ := ctx.Value(who{}).(string)
	return name
}

// named returns the name of the acting human or program for a row.
func named(who string) string { return cmp.Or(who, Human) }
