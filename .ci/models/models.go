// Models writes store/config/models.zip: what is known about the models of each provider. It takes the data of
// charm.land/catwalk from the module proxy, and own.json, whose fields win. Run it in the root: go run ./.ci/models
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	source = "charm.land/catwalk@v0.52.86"
	sum    = "h1:NEP2RXZWj8amSaywrhf2TGWPxHEKCxSdJZdnATGFQ4A="
	own    = ".ci/models/own.json"
	target = "store/config/models.zip"
	notice = "store/config/models.LICENSE"
)

// model is a row as the program reads it.
type model struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Window   int       `json:"window,omitempty"`
	Out      int       `json:"out,omitempty"`
	Price    []float64 `json:"price,omitempty"` // input, output, cache read, cache write; dollars per million tokens
	Long     []float64 `json:"long,omitempty"`  // prompt tokens, and the factors of input and output above them
	Images   bool      `json:"images,omitempty"`
	Efforts  []string  `json:"efforts,omitempty"`
	Effort   string    `json:"effort,omitempty"`
	Thinking string    `json:"thinking,omitempty"` // none, budget, either, adaptive, always
}

// provider is catwalk's form.
type provider struct {
	ID     string `json:"id"`
	Models []struct {
		ID         string   `json:"id"`
		Name       string   `json:"name"`
		In         float64  `json:"cost_per_1m_in"`
		Out        float64  `json:"cost_per_1m_out"`
		InCached   float64  `json:"cost_per_1m_in_cached"`
		OutCached  float64  `json:"cost_per_1m_out_cached"`
		Window     int      `json:"context_window"`
		MaxTokens  int      `json:"default_max_tokens"`
		CanReason  *bool    `json:"can_reason"`
		Levels     []string `json:"reasoning_levels"`
		Default    string   `json:"default_reasoning_effort"`
		Attachment bool     `json:"supports_attachments"`
	} `json:"models"`
}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal("models: ", err)
	}
}

func run() error {
	all, license, err := read()
	if err != nil {
		return err
	}
	ours, err := os.ReadFile(own)
	if err != nil {
		return err
	}
	if err := merge(all, ours); err != nil {
		return fmt.Errorf("%s: %w", own, err)
	}
	packed, err := pack(all, fmt.Sprintf("%s %s own.json %x", source, sum, sha256.Sum256(ours)))
	if err != nil {
		return err
	}
	if err := os.WriteFile(notice, license, 0o644); err != nil {
		return err
	}
	return os.WriteFile(target, packed, 0o644)
}

// read returns catwalk's models by provider, and its licence.
func read() (map[string][]model, []byte, error) {
	// The module's go line may ask for a newer Go than this one; its zip is there all the same.
	said, _ := exec.Command("go", "mod", "download", "-json", source).Output()
	var got struct{ Zip, Sum, Error string }
	if err := json.Unmarshal(said, &got); err != nil || got.Zip == "" {
		return nil, nil, fmt.Errorf("no %s: %s", source, got.Error)
	}
	if got.Sum != sum {
		return nil, nil, fmt.Errorf("%s has the sum %s, want %s", source, got.Sum, sum)
	}
	files, err := zip.OpenReader(got.Zip)
	if err != nil {
		return nil, nil, err
	}
	defer files.Close()
	all, license := map[string][]model{}, []byte(nil)
	for _, f := range files.File {
		name := strings.TrimPrefix(f.Name, source+"/")
		data := name == "LICENSE" || path.Dir(name) == "internal/providers/configs" && path.Ext(name) == ".json"
		if !data {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, nil, err
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, nil, err
		}
		if name == "LICENSE" {
			license = text
			continue
		}
		var p provider
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		all[p.ID] = rows(p)
	}
	return all, license, nil
}

// date ends a name of Anthropic's that the name without it means, too.
var date = regexp.MustCompile(`-\d{8}$`)

// rows are the models of a provider in our form, in its order.
func rows(p provider) (all []model) {
	for _, m := range p.Models {
		r := model{ID: m.ID, Name: m.Name, Window: m.Window, Out: m.MaxTokens, Images: m.Attachment, Efforts: m.Levels, Effort: m.Default}
		if p.ID == "anthropic" {
			r.ID = date.ReplaceAllString(r.ID, "")
		}
		if math.Abs(float64(m.MaxTokens*10-m.Window)) < float64(m.Window)/100 {
			r.Out = 0 // a tenth of the window is a guess
		}
		if m.In > 0 || m.Out > 0 {
			r.Price = []float64{cents(m.In), cents(m.Out), cents(hit(m.In, m.InCached, m.OutCached)), cents(max(m.In, m.InCached))}
		}
		if m.CanReason != nil && !*m.CanReason {
			r.Thinking = "none"
		}
		if claude := thinking(r.ID); claude != "" {
			r.Thinking = claude
		}
		all = append(all, r)
	}
	return all
}

// hit is the price of what is read from the cache. Some rows have it in the column of what is written, which never
// costs less than the input; some have none, and then it costs the input.
func hit(input, write, read float64) float64 {
	switch {
	case read > 0 && read <= input:
		return read
	case write > 0 && write < input:
		return write
	}
	return input
}

// cents takes off what counting in binary added.
func cents(dollars float64) float64 { return math.Round(dollars*1e6) / 1e6 }

// version takes a Claude's generation from its name.
var version = regexp.MustCompile(`claude-(?:[a-z]+-)?(\d)(?:[-.](\d)\b)?`)

// thinking is the kind of thinking of a Claude: what a request may ask for.
func thinking(id string) string {
	v := version.FindStringSubmatch(id)
	if v == nil {
		return ""
	}
	switch n := v[1] + v[2]; {
	case strings.Contains(id, "fable"), strings.Contains(id, "mythos"):
		return "always"
	case strings.HasPrefix(n, "3"):
		return "none"
	case n == "46":
		return "either"
	case n < "46" && v[1] == "4":
		return "budget"
	}
	return "adaptive"
}

// merge changes the rows as own.json says. A row that is not there comes before the one that it names, else last.
func merge(all map[string][]model, ours []byte) error {
	var providers map[string][]json.RawMessage
	if err := json.Unmarshal(ours, &providers); err != nil {
		return err
	}
	for provider, changes := range providers {
		had := all[provider]
		for _, change := range changes {
			var row struct {
				model
				Before string `json:"before"` // the row that it comes before, if it is new
			}
			if err := json.Unmarshal(change, &row); err != nil {
				return err
			}
			if at := slices.IndexFunc(had, func(m model) bool { return m.ID == row.ID }); at >= 0 {
				if err := json.Unmarshal(change, &had[at]); err != nil {
					return err
				}
				continue
			}
			if row.Thinking == "" {
				row.Thinking = thinking(row.ID)
			}
			at := slices.IndexFunc(had, func(m model) bool { return m.ID == row.Before })
			if at < 0 {
				at = len(had)
			}
			had = slices.Insert(had, at, row.model)
		}
		all[provider] = had
	}
	return nil
}

// pack writes a file for each provider. The same rows give the same bytes.
func pack(all map[string][]model, from string) ([]byte, error) {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
	for _, name := range names {
		text, err := json.Marshal(all[name])
		if err != nil {
			return nil, err
		}
		f, err := w.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(text); err != nil {
			return nil, err
		}
	}
	if err := w.SetComment(from); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}
