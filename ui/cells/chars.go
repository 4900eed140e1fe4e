package cells

import (
	"strings"
	"unicode"
)

// code returns the visible token of a character: <U+202E>.
func code(r rune) string { return "<U+" + hex(uint32(r), 4) + ">" }

// hex returns n with at least width digits; bytes in lower case, as Go writes them.
func hex(n uint32, width int) string {
	digits := "0123456789ABCDEF"
	if width == 2 {
		digits = strings.ToLower(digits)
	}
	var b [8]byte
	i := len(b)
	for n > 0 || len(b)-i < width {
		i--
		b[i] = digits[n&15]
		n >>= 4
	}
	return string(b[i:])
}

// hidden reports whether r is invisible or changes how its neighbours look. ZWJ and the variation selectors for emoji
// are handled before.
func hidden(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r <= 0x9f:
		return true
	case r == 0x2028, r == 0x2029: // line and paragraph separator
		return true
	case r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe: // no characters
		return true
	}
	return ignorable(r) || prepends(r)
}

// ignorable reports whether a terminal may show r as nothing at all: Unicode's Default_Ignorable_Code_Point, including
// fillers and unassigned ones, and the few other format characters.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

func mark(r rune) bool {
	switch r {
	case 0x0e33, 0x0eb3, 0xff9e, 0xff9f: // letters by name, marks by behaviour
		return true
	}
	return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc)
}

// extends reports whether r belongs to the character before it.
func extends(r rune) bool {
	return r == zwj || r == vs15 || r == vs16 || modifier(r) || mark(r)
}

// modifier reports whether r is a skin tone.
func modifier(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// emoji reports whether r may be part of an emoji sequence; it accepts a few more.
func emoji(r rune) bool {
	switch {
	case r >= 0x1f000 && r <= 0x1faff:
		return true
	case r >= 0x2190 && r <= 0x21ff, r >= 0x2300 && r <= 0x23ff, r >= 0x24c2 && r <= 0x25ff && (r == 0x24c2 || r >= 0x25a0):
		return true
	case r >= 0x2600 && r <= 0x27bf, r >= 0x2934 && r <= 0x2935, r >= 0x2b00 && r <= 0x2bff:
		return true
	}
	switch r {
	case 0xa9, 0xae, 0x203c, 0x2049, 0x2122, 0x2139, 0x3030, 0x303d, 0x3297, 0x3299:
		return true
	}
	return false
}

func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// hangul reports whether r is a Hangul syllable or one of the letters that form one.
func hangul(r rune) bool {
	return r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97f || r >= 0xac00 && r <= 0xd7ff
}

// jamoFirst reports whether a syllable begins with r, jamoNext whether one continues with r.
func jamoFirst(r rune) bool { return r >= 0x1100 && r <= 0x115f || r >= 0xa960 && r <= 0xa97f }

func jamoNext(r rune) bool { return r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff }

// prepends reports whether r is one of the rare letters that join with what follows: with our own padding too, so the
// width of a line could not be known.
func prepends(r rune) bool {
	switch r {
	case 0x0d4e, 0x111c2, 0x111c3, 0x113d1, 0x1193f, 0x11941, 0x11a3a, 0x11f02:
		return true
	}
	return r >= 0x11a84 && r <= 0x11a89 || r == 0x11d46
}

// virama reports whether r is a mark that joins a consonant with the next.
func virama(r rune) bool {
	switch r {
	case 0x094d, 0x09cd, 0x0a4d, 0x0acd, 0x0b4d, 0x0bcd, 0x0c4d, 0x0ccd, 0x0d4d, 0x0dca, 0x1039, 0x17d2, 0x1a60, 0x1b44, 0x1bab, 0xa9c0, 0xaaf6:
		return true
	}
	return r >= 0x10a3f && r <= 0x11fff && unicode.Is(unicode.Mn, r)
}
