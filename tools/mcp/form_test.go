package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fantail/tools"
)

// asksForm answers questions one after another, and keeps them.
func asksForm(asked *[]tools.Question, answers ...string) FormAsker {
	return func(_ context.Context, q tools.Question) (string, error) {
		*asked = append(*asked, q)
		if len(*asked) > len(answers) {
			return "", errors.New("nobody is there any more")
		}
		return answers[len(*asked)-1], nil
	}
}

func TestFill(t *testing.T) {
	one, ten := 1.0, 10.0
	colour := FormField{Name: "colour", Type: "string", Options: []string{"r", "b"}, Labels: []string{"Red", "Blue"}, Required: true}
	count := FormField{Name: "n", Title: "Count", Type: "integer", Min: &one, Max: &ten}
	for _, c := range []struct {
		name   string
		fields []FormField
		url    string
		says   []string
		want   string
		asks   int
	}{
		{"a plain yes", nil, "", []string{labelYes}, `{"Action":"accept","Content":{}}`, 1},
		{"a plain no", nil, "", []string{labelRefuse}, `{"Action":"decline","Content":null}`, 1},
		{"what is no yes is none", nil, "", []string{"perhaps"}, `{"Action":"decline","Content":null}`, 1},
		{"visited", nil, "https://a.example/x", []string{labelVisited}, `{"Action":"accept","Content":null}`, 1},
		{"not visited", nil, "https://a.example/x", []string{"later"}, `{"Action":"decline","Content":null}`, 1},
		{"by label", []FormField{colour, count}, "", []string{"Blue", "7"}, `{"Action":"accept","Content":{"colour":"b","n":7}}`, 2},
		{"by value", []FormField{colour}, "", []string{"r"}, `{"Action":"accept","Content":{"colour":"r"}}`, 1},
		{"left out", []FormField{colour, count}, "", []string{"Red", labelSkip}, `{"Action":"accept","Content":{"colour":"r"}}`, 2},
		{"once more", []FormField{count}, "", []string{"many", "70", "1.5", "3"}, `{"Action":"accept","Content":{"n":3}}`, 4},
		{"wrong for good", []FormField{count}, "", []string{"a", "b", "c", "d", "e"}, `{"Action":"decline","Content":null}`, 4},
		{"what must be is not left out", []FormField{colour}, "", []string{labelSkip, "Red"}, `{"Action":"accept","Content":{"colour":"r"}}`, 2},
		{"no in between", []FormField{colour, count}, "", []string{"Red", labelRefuse}, `{"Action":"decline","Content":null}`, 2},
		{"nobody", []FormField{colour}, "", nil, `{"Action":"cancel","Content":null}`, 1},
		{"several", []FormField{{Name: "s", Type: "several", Options: []string{"a", "b", "c"}}}, "", []string{"a, c,a"}, `{"Action":"accept","Content":{"s":["a","c"]}}`, 1},
		{"boolean", []FormField{{Name: "b", Type: "boolean", Required: true}}, "", []string{"perhaps", "no"}, `{"Action":"accept","Content":{"b":false}}`, 2},
		{"mail", []FormField{{Name: "m", Type: "string", Format: "email"}}, "", []string{"@", "a@b.example"}, `{"Action":"accept","Content":{"m":"a@b.example"}}`, 2},
		{"date", []FormField{{Name: "d", Type: "string", Format: "date"}}, "", []string{"tomorrow", "2026-11-27"}, `{"Action":"accept","Content":{"d":"2026-11-27"}}`, 2},
		{"pattern", []FormField{{Name: "p", Type: "string", Pattern: "^[a-z]+$", Max: &ten}}, "", []string{"A1", "abcdefghijklm", "abc"}, `{"Action":"accept","Content":{"p":"abc"}}`, 3},
	} {
		var asked []tools.Question
		a, _ := FillForm(t.Context(), asksForm(&asked, c.says...), "db", Elicitation{Message: "Hello", Fields: c.fields, URL: c.url, Host: "a.example"})
		if got, _ := json.Marshal(a); string(got) != c.want || len(asked) != c.asks {
			t.Errorf("%s: %s after %d questions", c.name, got, len(asked))
		}
		if q := asked[0]; !strings.HasPrefix(q.Text, "The MCP server db asks. These are its words, not ours:\n\nHello") || q.Options[len(q.Options)-1].Label != labelRefuse {
			t.Errorf("%s: %+v", c.name, q)
		}
		if c.url != "" && !strings.Contains(asked[0].Text, "the host a.example") {
			t.Errorf("%s: the host is not named: %s", c.name, asked[0].Text)
		}
	}
}

// A long list is typed from, so that every question has a digit for each of its options.
func TestFill_manyOptions(t *testing.T) {
	f := FormField{Name: "x", Type: "string", Options: strings.Fields("a b c d e f g h i j k")}
	var asked []tools.Question
	if a, err := FillForm(t.Context(), asksForm(&asked, "k"), "db", Elicitation{Fields: []FormField{f}}); err != nil || a.Content["x"] != "k" {
		t.Error(a, err)
	}
	if len(asked[0].Options) != 2 || !strings.Contains(asked[0].Text, "One of: a, b, c") {
		t.Errorf("%+v", asked[0])
	}
}
