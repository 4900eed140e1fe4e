package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestArguments: schemas of older drafts and of languages without empty objects become what servers of models take.
func TestArguments(t *testing.T) {
	nested := strings.Repeat(`{"type":"object","properties":{"a":`, 50) + `{"type":"string"}` + strings.Repeat(`}}`, 50)
	for in, want := range map[string]string{
		`null`: `{"properties":{},"type":"object"}`, `[]`: `{"properties":{},"type":"object"}`, `{}`: `{"properties":{},"type":"object"}`, `true`: `{"properties":{},"type":"object"}`,
		`{"properties":[]}`: `{"properties":{},"type":"object"}`, `{"properties":null}`: `{"properties":{},"type":"object"}`, `{"properties":"x"}`: `{"properties":{},"type":"object"}`,
		`{"type":[]}`: `{"properties":{},"type":"object"}`, `{"type":["object","null"]}`: `{"properties":{},"type":"object"}`, `{"required":[]}`: `{"properties":{},"type":"object"}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","$id":"x","properties":{"a":{"$id":"y"}}}`: `{"properties":{"a":{}},"type":"object"}`,
		`{"properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}`:                    `{"properties":{"n":{"exclusiveMinimum":0,"type":"integer"}},"type":"object"}`,
		`{"properties":{"n":{"minimum":0,"exclusiveMinimum":false}}}`:                                    `{"properties":{"n":{"minimum":0}},"type":"object"}`,
		`{"properties":{"n":{"maximum":9,"exclusiveMaximum":true}}}`:                                     `{"properties":{"n":{"exclusiveMaximum":9}},"type":"object"}`,
		`{"properties":{"n":{"minimum":"3","maximum":[],"multipleOf":0}}}`:                               `{"properties":{"n":{"minimum":3}},"type":"object"}`,
		`{"properties":{"n":{"maximum":1.7976931348623157e308,"minLength":-1,"maxLength":1.5}}}`:         `{"properties":{"n":{}},"type":"object"}`,
		`{"properties":{"o":{"type":"object","properties":[]}}}`:                                         `{"properties":{"o":{"properties":{},"type":"object"}},"type":"object"}`,
		`{"properties":{"t":{"type":"text"}}}`:                                                           `{"properties":{"t":{"type":"string"}},"type":"object"}`,
		`{"properties":{"t":{"type":["Text","nonsense","null"]}}}`:                                       `{"properties":{"t":{"type":["string","null"]}},"type":"object"}`,
		`{"properties":{"t":{"type":"nonsense"}}}`:                                                       `{"properties":{"t":{}},"type":"object"}`,
		`{"properties":{"t":"string","u":[],"v":null,"w":true,"x":false}}`:                               `{"properties":{"t":{"type":"string"},"u":{},"v":{},"w":{}},"type":"object"}`,
		`{"properties":{"a":{"required":true},"b":{"required":false}}}`:                                  `{"properties":{"a":{},"b":{}},"required":["a"],"type":"object"}`,
		`{"properties":{"a":{}},"required":["b","a","a",1]}`:                                             `{"properties":{"a":{}},"required":["a"],"type":"object"}`,
		`{"properties":{"a":{}},"required":"a"}`:                                                         `{"properties":{"a":{}},"type":"object"}`,
		`{"properties":[{"name":"a","type":"string","required":true}]}`:                                  `{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/definitions/none"}}}`:                                             `{"properties":{"a":{}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"other.json"},"b":{"$ref":7}}}`:                                      `{"properties":{"a":{},"b":{}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"str"}}}`:                         `{"$defs":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/x"}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/none"}}}`:                `{"$defs":{"x":{}},"properties":{"a":{"$ref":"#/$defs/x"}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":[]}`:                                           `{"$defs":{},"properties":{"a":{}},"type":"object"}`,
		`{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{}},"required":["a"]}}}`:                    `{"$defs":{"x":{"properties":{"a":{}},"required":["a"]}},"properties":{"a":{}},"required":["a"],"type":"object"}`,
		`{"properties":{"a":{"pattern":"("},"b":{"pattern":"(?=x)"},"c":{"pattern":"^[a-z]+$"}}}`:        `{"properties":{"a":{},"b":{},"c":{"pattern":"^[a-z]+$"}},"type":"object"}`,
		`{"patternProperties":{"(":{},"^x":{"type":"int"}}}`:                                             `{"patternProperties":{"^x":{"type":"integer"}},"properties":{},"type":"object"}`,
		`{"properties":{"a":{"type":"array"},"b":{"items":[]},"c":{"items":[{"type":"str"}]}}}`:          `{"properties":{"a":{"items":{},"type":"array"},"b":{},"c":{"prefixItems":[{"type":"string"}]}},"type":"object"}`,
		`{"properties":{"a":{"enum":[]},"b":{"enum":{"1":"x"}},"c":{"anyOf":[]},"d":{"anyOf":["str"]}}}`: `{"properties":{"a":{},"b":{"enum":["x"]},"c":{},"d":{"anyOf":[{"type":"string"}]}},"type":"object"}`,
		`{"additionalProperties":[],"description":[],"title":0,"properties":{"a":{"uniqueItems":"x"}}}`:  `{"properties":{"a":{}},"type":"object"}`,
		`{"additionalProperties":false,"anyOf":[{"required":["a"]}]}`:                                    `{"additionalProperties":false,"properties":{},"type":"object"}`,
		`{"properties":{"a":{}},"dependentRequired":{"a":["b",1],"b":"x"}}`:                              `{"dependentRequired":{"a":["b"]},"properties":{"a":{}},"type":"object"}`,
		`{"properties":{"a":{"default":[],"const":{"properties":[]},"example":[]}}}`:                     `{"properties":{"a":{"const":{"properties":[]},"default":[],"example":[]}},"type":"object"}`,
		`{"description":"a\u0000b"}`:                                                                     `{"description":"a\ufffdb","properties":{},"type":"object"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(in, err)
		}
		d, err := describeTool(&mcp.Tool{Name: "f", InputSchema: v})
		want = strings.ReplaceAll(want, `\ufffd`, "\uFFFD")
		if err != nil || string(d.Schema) != want {
			t.Errorf("%s:\n got %s %v\nwant %s", in, d.Schema, err, want)
			continue
		}
		if again, err := arguments(d.Schema); err != nil || func() string { b, _ := json.Marshal(again); return string(b) }() != want {
			t.Errorf("%s is mended to %v, %v", want, again, err)
		}
	}
	loop := json.RawMessage(`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}}}`)
	if s, err := arguments(loop); err != nil || len(s["properties"].(schema)["a"].(schema)) != 0 {
		t.Errorf("a circle: %v %v", s, err)
	}
	if s, err := arguments(json.RawMessage(nested)); err != nil {
		t.Errorf("deep: %v", err)
	} else if b, _ := json.Marshal(s); strings.Count(string(b), `"a"`) > maxDepth+1 {
		t.Errorf("deep: %s", b)
	}
	for _, in := range []string{`"x"`, `7`, `["a"]`, `{"type":"text"}`, `{"type":"array"}`, `{"$defs":{"x":{}},"definitions":{"x":{}}}`} {
		if s, err := arguments(json.RawMessage(in)); err == nil {
			t.Errorf("%s: %v", in, s)
		}
	}
}

// TestLoad_whatWasKept: what an earlier run kept as it came is made valid, and agreed to no less than before; what can't be
// made valid is not offered.
func TestLoad_whatWasKept(t *testing.T) {
	dir := t.TempDir()
	was := `{"name":"a","schema":{"type":"object","properties":[]}}`
	file := `{"x":{"mark":"m","tools":[{"is":` + was + `},{"is":{"name":"b","schema":{"type":"object","properties":{}}},"was":{"name":"b","schema":{"type":"object","properties":[]}}},{"is":{"name":"c","schema":"no"}}]}}`
	if err := os.WriteFile(filepath.Join(dir, "tools.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Servers{o: Options{Dir: dir}}
	r.loadRecords()
	k := r.records["x"]
	if k == nil || len(k.Tools) != 3 {
		t.Fatalf("%+v", k)
	}
	for n, gone := range []bool{false, false, true} {
		e := k.Tools[n]
		if e.Removed != gone || e.Agreed != nil || !gone && string(e.Current.Schema) != `{"properties":{},"type":"object"}` {
			t.Errorf("%s: %+v", e.Current.Name, e)
		}
	}
}
