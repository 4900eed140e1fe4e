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
	maxDepth   = 20   // schemas that may stand one in the other; what is deeper takes anything
	maxPattern = 1000 // bytes of a regular expression
)

// schema is a JSON Schema as servers of models take it.
type schema = map[string]any

// types are the names of types, and what people write for them.
var types = map[string]string{
	"string": "string", "text": "string", "str": "string", "date": "string", "datetime": "string", "uuid": "string", "file": "string",
	"number": "number", "float": "number", "double": "number", "decimal": "number", "integer": "integer", "int": "integer", "long": "integer",
	"boolean": "boolean", "bool": "boolean", "object": "object", "dict": "object", "map": "object", "array": "array", "list": "array", "tuple": "array", "null": "null",
}

// kind says what the value of a keyword is.
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
	kindDropped // what only older drafts have, and what names a schema for others
)

// keywords are those that some draft knows, with their kinds. Others stay as they are.
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

// arguments is the schema of a tool's arguments, made valid where it is of an older draft, of a language without empty
// objects, or odd. The error says why nothing can be made of it.
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
	if to, is := at(s, s["$ref"]).(schema); is { // models' servers want the properties at the top
		for k, v := range to {
			if _, has := s[k]; !has {
				s[k] = v
			}
		}
	}
	for _, word := range []string{"$ref", "oneOf", "anyOf", "allOf"} { // models' servers refuse them there; the server judges all the same
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

// valid says why a schema is none of draft 2020-12.
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

// mend makes one schema valid, and those in it.
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

// upgradeDraft writes in the present form what older drafts wrote in others.
func upgradeDraft(s schema) {
	for word, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if s[word] == true { // draft 4: the bound itself is out
			s[word] = s[bound]
			delete(s, bound)
		}
	}
	if list, is := s["items"].([]any); is { // before 2020-12: by their places
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
	if list, is := s["properties"].([]any); is { // of a language without empty objects; or each says its own name
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

// mended is the value of a keyword as it is valid; false: it can't be made so.
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

// asSchema is what stands in the place of a schema; false: none does, as nothing is allowed there.
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
	return schema{}, true // a list where an object was meant, or what says nothing
}

// schemasByName mends schemas that have names, or patterns of names, as the keyword says.
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

// typed is the value of type: a name, or several.
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

// require leaves of what is required those that there are, each once.
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

// special is what the engines of regular expressions read in different ways.
var special = regexp.MustCompile(`\(\?[^:]|\\[AzZQEpPGKR]|\[\[:|[*+?}]\+`)

// plainPattern reports whether all engines take a regular expression.
func plainPattern(p string) bool {
	_, err := regexp.Compile(p)
	return err == nil && p != "" && len(p) <= maxPattern && !special.MatchString(p)
}

// at is what a reference within the schema leads to; nil: nothing.
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
		if !is { // one in a list too: few readers follow a reference there
			return nil
		}
		v = in[step]
	}
	return v
}

// resolve takes out the references below v that lead nowhere, or only to others in a circle: all at once, so that what is left
// is always the same.
func resolve(root schema, v any) {
	for _, s := range dead(root, v, nil) {
		delete(s, "$ref")
	}
}

// dead adds to all the schemas, v and those below, whose reference leads nowhere.
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
