package themes

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed *.toml
var files embed.FS

var names = [...]string{"dark", "light", "ansi"}

// Names lists the themes: "dark", "light", "ansi".
func Names() []string { return slices.Clone(names[:]) }

// Load returns the theme of that name; the error lists the names. With noColor, styles keep bold, underline and
// reverse, and lose colours. It only reads this theme's file.
func Load(name string, noColor bool) (*Theme, error) {
	if !slices.Contains(names[:], name) {
		return nil, fmt.Errorf("theme %q is not known: use %s", name, strings.Join(names[:], ", "))
	}
	b, err := files.ReadFile(name + ".toml")
	if err != nil {
		return nil, fmt.Errorf("read theme %s: %w", name, err)
	}
	t, err := parse(name, b, noColor)
	if err != nil {
		return nil, fmt.Errorf("read theme %s: %w", name, err)
	}
	return t, nil
}

// parse reads a theme's file. It must have every role and nothing else.
func parse(name string, b []byte, noColor bool) (*Theme, error) {
	var file struct {
		Dark        bool   `toml:"dark"`
		Background  string `toml:"background"`
		Text        *Look  `toml:"text"`
		Strong      *Look  `toml:"strong"`
		Dim         *Look  `toml:"dim"`
		Faint       *Look  `toml:"faint"`
		Accent      *Look  `toml:"accent"`
		User        *Look  `toml:"user"`
		Answer      *Look  `toml:"answer"`
		Thinking    *Look  `toml:"thinking"`
		Tool        *Look  `toml:"tool"`
		Message     *Look  `toml:"message"`
		Good        *Look  `toml:"good"`
		Bad         *Look  `toml:"bad"`
		Danger      *Look  `toml:"danger"`
		Warn        *Look  `toml:"warn"`
		Ask         *Look  `toml:"ask"`
		TabActive   *Look  `toml:"tab-active"`
		TabIdle     *Look  `toml:"tab-idle"`
		Rule        *Look  `toml:"rule"`
		Status      *Look  `toml:"status"`
		Selection   *Look  `toml:"selection"`
		Code        *Look  `toml:"code"`
		Hunk        *Look  `toml:"hunk"`
		Border      *Look  `toml:"border"`
		Heading     *Look  `toml:"heading"`
		Link        *Look  `toml:"link"`
		Comment     *Look  `toml:"comment"`
		Keyword     *Look  `toml:"keyword"`
		String      *Look  `toml:"string"`
		Number      *Look  `toml:"number"`
		Call        *Look  `toml:"call"`
		Type        *Look  `toml:"type"`
		Raised      *Look  `toml:"raised"`
		Letter      *Look  `toml:"letter"`
		Added       *Look  `toml:"added"`
		Removed     *Look  `toml:"removed"`
		AddedWord   *Look  `toml:"added-word"`
		RemovedWord *Look  `toml:"removed-word"`
	}
	d := toml.NewDecoder(strings.NewReader(string(b))).DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	f := &file
	var looks [numRoles]Look
	for r, l := range [numRoles]*Look{
		f.Text, f.Strong, f.Dim, f.Faint, f.Accent, f.User, f.Answer, f.Thinking, f.Tool, f.Message,
		f.Good, f.Bad, f.Danger, f.Warn, f.Ask, f.TabActive, f.TabIdle, f.Rule, f.Status, f.Selection,
		f.Code, f.Hunk, f.Border, f.Heading, f.Link, f.Comment, f.Keyword, f.String, f.Number, f.Call,
		f.Type, f.Raised, f.Letter, f.Added, f.Removed, f.AddedWord, f.RemovedWord,
	} {
		if l == nil {
			return nil, fmt.Errorf("role %q is missing", Role(r))
		}
		looks[r] = *l
		if noColor {
			looks[r] = l.colourless(Role(r))
		}
	}
	return newTheme(name, file.Dark, file.Background, looks), nil
}
