package llm

// EncodedMessage caches the encoding of a message, which is sent in request after request. It lives as long as the message,
// which does not change any more. The zero value is empty.
type EncodedMessage struct{ value any }

// encoded is the encoding of a message with some options.
type encoded[F comparable, T any] struct {
	options F
	value   T
}

// EncodeOnce returns the cached encoding of m, or that of encode if there is none with these options. The options hold
// everything on which the encoding depends besides m. Their type belongs to one provider. The result must not be changed.
func EncodeOnce[F comparable, T any](m *Message, options F, encode func(F, *Message) T) T {
	if m.Encoded == nil {
		return encode(options, m)
	}
	w, ok := m.Encoded.value.(encoded[F, T])
	if !ok || w.options != options {
		w = encoded[F, T]{options, encode(options, m)}
		m.Encoded.value = w
	}
	return w.value
}
