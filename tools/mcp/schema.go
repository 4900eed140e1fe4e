package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"fantail/tools/validjson"
)

const (
	maxDepth   = 20   // nesting of schemas; deeper ones accept anything
	maxPattern = 1000 // bytes of a regular expression
)

// schema is a JSON Schema as model servers accept it.
type schema = map[string]any

// types are the names of types, and other spellings of them.
var types = map[string]string{
	"string": "string", "text": "string", "str": "string", "date": "string", "datetime": "string", "uuid": "string", "file": "string",
	"number": "number", "float": "number", "double": "number", "decimal": "number", "integer": "integer", "int": "integer", "long": "integer",
	"boolean": "boolean", "bool": "boolean", "object": "object", "dict": "object", "map": "object", "array": "array", "list": "array", "tuple": "array", "null": "null",
}

// kind is the kind of a keyword's value.
type kind int

const (
	kindAny kind = iota
	kindType
	kindText
	kindPattern
	kindFlag
	kindNumber
	kindCount
	kindList
	kindSchemas
	kindSchema
	kindNamed
	kindNamedTexts
	kindDropped // keywords of older drafts, and those that name a schema for references
)

// keywords are the known keywords of all drafts, with their kinds. Other keywords stay unchanged.
var keywords = map[string]kind{
	"type": kindType, "pattern": kindPattern, "dependentRequired": kindNamedTexts, "multipleOf": kindNumber,
	"title": kindText, "description": kindText, "$comment": kindText, "format": kindText, "$ref": kindText,
	"contentEncoding": kindText, "contentMediaType": kindText,
	"uniqueItems": kindFlag, "deprecated": kindFlag, "readOnly": kindFlag, "writeOnly": kindFlag, "nullable": kindFlag,
	"minimum": kindNumber, "maximum": kindNumber, "exclusiveMinimum": kindNumber, "exclusiveMaximum": kindNumber,
	"minLength": kindCount, "maxLength": kindCount, "minItems": kindCount, "maxItems": kindCount,
	"minProperties": kindCount, "maxProperties": kindCount, "minContains": kindCount, "maxContains": kindCount,
	"enum": kindList, "examples": kindList, "required": kindList,
	"allOf": kindSchemas, "anyOf": kindSchemas, "oneOf": kindSchemas, "prefixItems": kindSchemas,
	"items": kindSchema, "not": kindSchema, "if": kindSchema, "then": kindSchema, "else": kindSchema,
	"contains": kindSchema, "propertyNames": kindSchema, "additionalProperties": kindSchema,
	"unevaluatedProperties": kindSchema, "unevaluatedItems": kindSchema, "contentSchema": kindSchema,
	"properties": kindNamed, "patternProperties": kindNamed, "$defs": kindNamed, "definitions": kindNamed,
	"dependentSchemas": kindNamed,
	"$schema":          kindDropped, "$id": kindDropped, "id": kindDropped, "$anchor": kindDropped, "$recursiveRef": kindDropped,
	"$recursiveAnchor": kindDropped, "$dynamicRef": kindDropped, "$dynamicAnchor": kindDropped,
	"$vocabulary": kindDropped, "dependencies": kindDropped, "extends": kindDropped, "disallow": kindDropped,
	"additionalItems": kindDropped,
}

// arguments returns the schema of a tool's arguments. It repairs schemas of older drafts, of
// languages without empty objects, and invalid ones. The error says why a schema can't be repaired.
func arguments(from any) (schema, error) {
	b, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	b, _ = validjson.Make(b)
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err
	}
	if list, is := v.([]any); v == nil || v == true || is && len(list) == 0 {
		v = schema{}
	}
	s, is := v.(schema)
	if !is {
		return nil, errors.New("its schema is no object")
	}
	if t, is := s["type"].(string); is && t != "" && types[strings.ToLower(t)] != "object" {
		return nil, errors.New("its arguments are no object")
	}
	if to, is := at(s, s["$ref"]).(schema); is { // model servers want the properties at the top
		for k, v := range to {
			if _, has := s[k]; !has {
				s[k] = v
			}
		}
	}
	for _, word := range []string{"$ref", "oneOf", "anyOf", "allOf"} { // model servers refuse these at the top; the MCP server still checks them
		delete(s, word)
	}
	s["type"] = "object"
	mend(s, 0)
	if s["properties"] == nil {
		s["properties"] = schema{}
	}
	resolve(s, s)
	return s, valid(s)
}

// valid returns an error unless s is a valid schema of draft 2020-12.
func valid(s schema) error {
	var parsed jsonschema.Schema
	b, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b, &parsed)
	}
	if err == nil {
		_, err = parsed.Resolve(nil)
	}
	if err != nil {
		return fmt.Errorf("its schema is not valid: %w", err)
	}
	return nil
}

// mend repairs a schema and the schemas in it.
func mend(s schema, depth int) {
	upgradeDraft(s)
	for word, v := range s {
		if v, is := mended(word, v, depth); is {
			s[word] = v
		} else {
			delete(s, word)
		}
	}
	if s["type"] == "array" && s["items"] == nil && s["prefixItems"] == nil {
		s["items"] = schema{}
	}
	require(s)
}

// upgradeDraft converts what older drafts wrote in another form.
func upgradeDraft(s schema) {
	for word, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if s[word] == true { // draft 4: the bound is exclusive
			s[word] = s[bound]
			delete(s, bound)
		}
	}
	if list, is := s["items"].([]any); is { // before 2020-12: by position
		delete(s, "items")
		if len(list) > 0 {
			s["prefixItems"] = list
		}
		if rest, has := s["additionalItems"]; has {
			s["items"] = rest
		}
	}
	if of, is := s["enum"].(schema); is {
		var all []any
		for _, name := range slices.Sorted(maps.Keys(of)) {
			all = append(all, of[name])
		}
		s["enum"] = all
	}
	if list, is := s["properties"].([]any); is { // from a language without empty objects, or with the name in each property
		of := schema{}
		for _, one := range list {
			if one, is := one.(schema); is {
				if name, is := one["name"].(string); is {
					delete(one, "name")
					of[name] = one
				}
			}
		}
		s["properties"] = of
	}
	of, _ := s["properties"].(schema)
	for name, one := range of {
		if p, is := one.(schema); is && p["required"] == true { // draft 3
			delete(p, "required")
			list, _ := s["required"].([]any)
			s["required"] = append(list, name)
		}
	}
}

// mended returns a valid value for a keyword; false: there is none.
func mended(word string, v any, depth int) (any, bool) {
	switch kind := keywords[word]; kind {
	case kindDropped:
		return nil, false
	case kindType:
		return typed(v)
	case kindText:
		_, is := v.(string)
		return v, is
	case kindPattern:
		p, _ := v.(string)
		return v, plainPattern(p)
	case kindFlag:
		_, is := v.(bool)
		return v, is
	case kindNumber, kindCount:
		if text, is := v.(string); is {
			v, _ = strconv.ParseFloat(text, 64)
		}
		n, is := v.(float64)
		if kind == kindCount && (n < 0 || n != math.Trunc(n) || n > math.MaxInt32) || word == "multipleOf" && n <= 0 {
			return nil, false
		}
		return n, is && math.Abs(n) <= 1<<53
	case kindList:
		list, _ := v.([]any)
		return list, len(list) > 0
	case kindSchemas:
		list, _ := v.([]any)
		for n := range list {
			if list[n], _ = asSchema(list[n], depth); list[n] == nil {
				list[n] = schema{}
			}
		}
		return list, len(list) > 0
	case kindSchema:
		_, object := v.(schema)
		if _, is := v.(bool); !object && word != "items" {
			return v, is && word != "not"
		}
		of, _ := asSchema(v, depth)
		return of, of != nil
	case kindNamed:
		return schemasByName(word, v, depth)
	case kindNamedTexts:
		of, is := v.(schema)
		for name, one := range of {
			list, _ := one.([]any)
			if list = slices.DeleteFunc(list, func(v any) bool { _, is := v.(string); return !is }); len(list) == 0 {
				delete(of, name)
			} else {
				of[name] = list
			}
		}
		return of, is
	}
	return v, true
}

// asSchema returns a valid schema for v; false: v allows nothing.
func asSchema(v any, depth int) (any, bool) {
	switch v := v.(type) {
	case schema:
		if depth >= maxDepth {
			return schema{}, true
		}
		mend(v, depth+1)
		return v, true
	case string:
		if t := types[strings.ToLower(v)]; t != "" {
			return schema{"type": t}, true
		}
	case bool:
		if !v {
			return nil, false
		}
	}
	return schema{}, true // a list instead of an object, or a value without meaning
}

// schemasByName repairs schemas by name or by pattern of names, as the keyword says.
func schemasByName(word string, v any, depth int) (any, bool) {
	if list, is := v.([]any); is && len(list) == 0 {
		return schema{}, true
	}
	of, is := v.(schema)
	for name, one := range of {
		if fine, may := asSchema(one, depth); may && (word != "patternProperties" || plainPattern(name)) {
			of[name] = fine
		} else {
			delete(of, name)
		}
	}
	return of, is
}

// typed returns a valid value of type: a name or several.
func typed(v any) (any, bool) {
	list, is := v.([]any)
	if !is {
		list = []any{v}
	}
	var all []any
	for _, one := range list {
		t, _ := one.(string)
		if t = types[strings.ToLower(t)]; t != "" && !slices.Contains(all, any(t)) {
			all = append(all, t)
		}
	}
	switch len(all) {
	case 0:
		return nil, false
	case 1:
		return all[0], true
	}
	return all, true
}

// require keeps those required names that are properties, each once.
func require(s schema) {
	all, _ := s["required"].([]any)
	delete(s, "required")
	of, _ := s["properties"].(schema)
	var names []string
	for _, one := range all {
		if name, is := one.(string); is && of[name] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 0 {
		s["required"] = names
	}
}

// special matches what regular expression engines read differently.
var special = regexp.MustCompile(`\(\?[^:]|\\[AzZQEpPGKR]|\[\[:|[*+?}]\+`)

// plainPattern reports whether all engines accept a regular expression.
func plainPattern(p string) bool {
	_, err := regexp.Compile(p)
	return err == nil && p != "" && len(p) <= maxPattern && !special.MatchString(p)
}

// at returns the target of a reference within the schema; nil: none.
func at(root schema, ref any) any {
	to, _ := ref.(string)
	path, is := strings.CutPrefix(to, "#")
	if !is || path != "" && path[0] != '/' {
		return nil
	}
	var v any = root
	for _, step := range strings.Split(path, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		in, is := v.(schema)
		if !is { // also for an item of a list: few readers follow such a reference
			return nil
		}
		v = in[step]
	}
	return v
}

// resolve removes the references below v that lead nowhere or in a circle. It removes all at once,
// so that the result does not depend on the order.
func resolve(root schema, v any) {
	for _, s := range dead(root, v, nil) {
		delete(s, "$ref")
	}
}

// dead appends the schemas at and below v whose reference leads nowhere.
func dead(root schema, v any, all []schema) []schema {
	switch v := v.(type) {
	case schema:
		to := v
		for n := 0; to["$ref"] != nil; n++ {
			next, is := at(root, to["$ref"]).(schema)
			if !is && n == 0 || n > maxDepth {
				all = append(all, v)
			}
			if !is || n > maxDepth {
				break
			}
			to = next
		}
		for word, one := range v {
			if word != "enum" && word != "const" && word != "default" && word != "examples" {
				all = dead(root, one, all)
			}
		}
	case []any:
		for _, one := range v {
			all = dead(root, one, all)
		}
	}
	return all
}
