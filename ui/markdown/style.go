package markdown

import (
	"charm.land/glamour/v2/ansi"

	"fantail/themes"
)

// styles returns a theme's colours in Glamour's words.
func styles(t *themes.Theme) ansi.StyleConfig {
	heading := primitive(t.Look(themes.Heading))
	first := heading
	first.Underline = yes(true)
	return ansi.StyleConfig{
		Heading:       ansi.StyleBlock{StylePrimitive: heading},
		H1:            ansi.StyleBlock{StylePrimitive: first},
		Emph:          ansi.StylePrimitive{Italic: yes(true)},
		Strong:        ansi.StylePrimitive{Bold: yes(true)},
		Strikethrough: ansi.StylePrimitive{CrossedOut: yes(true)},
		Link:          primitive(t.Look(themes.Link)),
		LinkText:      ansi.StylePrimitive{Bold: yes(true)},
		Image:         primitive(t.Look(themes.Link)),
		ImageText:     ansi.StylePrimitive{Format: "image: {{.text}}"},
		Code:          ansi.StyleBlock{StylePrimitive: primitive(t.Look(themes.Code))},
	}
}

func primitive(l themes.Look) ansi.StylePrimitive {
	p := ansi.StylePrimitive{Bold: yes(l.Bold), Italic: yes(l.Italic), Underline: yes(l.Underline), Inverse: yes(l.Reverse)}
	if l.Color != "" {
		p.Color = &l.Color
	}
	if l.Background != "" {
		p.BackgroundColor = &l.Background
	}
	return p
}

// yes returns nil for false, so that the enclosing style decides.
func yes(b bool) *bool {
	if !b {
		return nil
	}
	return &b
}
