package config

import (
	"reflect"
	"slices"
	"testing"
)

func TestChanged(t *testing.T) {
	a := Default()
	if got := Changed(a, Default()); got != nil {
		t.Errorf("nothing changed: %q", got)
	}
	b := Default()
	b.Theme, b.Mouse, b.MaxRunning = "light", false, 3
	b.Allow = []string{"bash(make)"}
	b.DisabledTools = []string{}
	b.Providers = map[string]ProviderRow{"work": {Model: "m"}}
	if got, want := Changed(a, b), []string{"theme", "max_running", "mouse", "allow", "providers"}; !slices.Equal(got, want) {
		t.Errorf("changed: %q, want %q", got, want)
	}
	// Every key is compared.
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if f.Tag.Get("toml") == "" {
			continue
		}
		c := Default()
		v := reflect.ValueOf(&c).Elem().FieldByIndex(f.Index)
		switch v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int:
			v.SetInt(7)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Struct:
			v.Field(0).Set(reflect.MakeSlice(v.Field(0).Type(), 1, 1))
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("x"), reflect.Zero(v.Type().Elem()))
		default:
			t.Fatalf("%s: %v", f.Name, v.Kind())
		}
		if got := Changed(Default(), c); !slices.Equal(got, []string{f.Tag.Get("toml")}) {
			t.Errorf("%s: %q", f.Name, got)
		}
	}
}
