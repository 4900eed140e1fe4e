package config

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// packed has a file for each provider, which `go run ./.ci/models` writes.
//
//go:embed models.zip
var packed []byte

// known is a row of the catalogue. One without a price is for a model whose price a table can't give, for instance
// because it changes by the hour.
type known struct {
	ID       string    `json:"id"` // without a date
	Name     string    `json:"name"`
	Window   int       `json:"window"`
	Out      int       `json:"out"`
	Price    []float64 `json:"price"` // input, output, cache read, cache write
	Long     []float64 `json:"long"`  // tokens of a prompt, and the factors of input and output above them
	Images   bool      `json:"images"`
	Efforts  []string  `json:"efforts"`
	Effort   string    `json:"effort"`
	Thinking string    `json:"thinking"`
}

func (k known) model() Model {
	m := Model{Name: k.Name, Window: k.Window, MaxOutput: k.Out, Images: k.Images, Efforts: k.Efforts, DefaultEffort: k.Effort, Thinking: k.Thinking}
	if p := k.Price; len(p) == 4 {
		m.Priced, m.price = true, price{p[0], p[1], p[2], p[3]}
	}
	if l := k.Long; len(l) == 3 {
		m.long = grade{int(l[0]), l[1], l[2]}
	}
	return m
}

// catalogue decodes a provider's rows when they are first asked for.
var catalogue = sync.OnceValue(func() map[string]func() []known {
	all := map[string]func() []known{}
	files, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic("the catalogue of models: " + err.Error())
	}
	for _, f := range files.File {
		all[f.Name] = sync.OnceValue(func() (rows []known) {
			r, err := f.Open()
			if err == nil {
				defer r.Close()
				err = json.NewDecoder(r).Decode(&rows)
			}
			if err != nil {
				panic("the catalogue of models: " + f.Name + ": " + err.Error())
			}
			return rows
		})
	}
	return all
})

// rows are the models that the catalogue has of a provider.
func rows(provider string) []known {
	if of, ok := catalogue()[provider]; ok {
		return of()
	}
	return nil
}

// row is the catalogue's row of that name, with a date or without.
func row(provider, name string) (known, bool) {
	all := rows(provider)
	at := slices.IndexFunc(all, func(k known) bool { return k.ID == name })
	if at < 0 {
		at = slices.IndexFunc(all, func(k known) bool {
			rest, ok := strings.CutPrefix(name, k.ID)
			return ok && edition.MatchString(rest)
		})
	}
	if at < 0 {
		return known{}, false
	}
	return all[at], true
}
