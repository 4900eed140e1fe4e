package llm

// Written is what a provider has made of a message, kept beside it: what stands in request after request is encoded
// once. It lives as long as the message, which does not change any more. The zero value is empty.
type Written struct{ kept any }

// written is a message in one form.
type written[F comparable, T any] struct {
	form F
	as   T
}

// Write returns what write makes of m, or has made of it before in that form. A form names everything that the result
// depends on besides m, and is of a type that one provider alone has. The result must not be changed.
func Write[F comparable, T any](m *Message, form F, write func(F, *Message) T) T {
	if m.Written == nil {
		return write(form, m)
	}
	w, ok := m.Written.kept.(written[F, T])
	if !ok || w.form != form {
		w = written[F, T]{form, write(form, m)}
		m.Written.kept = w
	}
	return w.as
}
