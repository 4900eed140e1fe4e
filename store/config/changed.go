package config

import (
	"reflect"
)

// Changed returns the keys in which two configurations differ, as written in the file.
func Changed(a, b Config) (keys []string) {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for _, f := range reflect.VisibleFields(va.Type()) {
		key := f.Tag.Get("toml")
		if key == "" {
			continue
		}
		x, y := va.FieldByIndex(f.Index), vb.FieldByIndex(f.Index)
		if x.Kind() != reflect.String && x.Kind() != reflect.Bool && x.Kind() != reflect.Int && x.Kind() != reflect.Struct && x.Len() == 0 && y.Len() == 0 {
			continue // none is none, written or not
		}
		if !reflect.DeepEqual(x.Interface(), y.Interface()) {
			keys = append(keys, key)
		}
	}
	return keys
}
