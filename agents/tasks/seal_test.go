package tasks_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"fantail/agents/tasks"
	"fantail/store"
)

// each calls f with copies of row, each with one field changed.
func each[T any](row T, f func(field string, changed T)) {
	of := reflect.TypeFor[T]()
	for n := range of.NumField() {
		c := row
		switch v := reflect.ValueOf(&c).Elem().Field(n); v.Interface().(type) {
		case string:
			v.SetString(v.String() + "x")
		case bool:
			v.SetBool(!v.Bool())
		case int64:
			v.SetInt(v.Int() + 1)
		case time.Duration:
			v.SetInt(v.Int() + int64(time.Second))
		case time.Time:
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		case []string:
			v.Set(reflect.ValueOf([]string{"x"}))
		}
		f(of.Field(n).Name, c)
	}
}

// A seal covers each field, except those that change while the task stays the same.
func TestKey_covers(t *testing.T) {
	k := tasks.NewSealKey()
	free := []string{"State", "Outcome", "Error", "Agent", "Created", "Started", "Finished", "Place", "After", "Seal"}
	task := store.Task{ID: 1, Name: "a", Prompt: "b"}
	each(task, func(field string, c store.Task) {
		if same := tasks.SameSeal(k.Task(task, "attended"), k.Task(c, "attended")); same != slices.Contains(free, field) {
			t.Errorf("another %s of a task has the same seal: %v", field, same)
		}
	})
	if tasks.SameSeal(k.Task(task, "attended"), k.Task(task, "outside")) {
		t.Error("another trust has the same seal")
	}
	free = []string{"Created", "Acted", "Seal"}
	row := store.Approval{ID: 1, Call: "c"}
	each(row, func(field string, c store.Approval) {
		if same := tasks.SameSeal(k.Approval(row), k.Approval(c)); same != slices.Contains(free, field) {
			t.Errorf("another %s of a question has the same seal: %v", field, same)
		}
	})
}

// A text that moves from one field into the next makes another row, and another key's seal is not valid.
func TestKey_isUnambiguous(t *testing.T) {
	k := tasks.NewSealKey()
	one, two := store.Task{Name: "ab", Prompt: "c"}, store.Task{Name: "a", Prompt: "bc"}
	if tasks.SameSeal(k.Task(one, ""), k.Task(two, "")) {
		t.Error("the fields run together")
	}
	if tasks.SameSeal(k.Task(one, ""), tasks.NewSealKey().Task(one, "")) {
		t.Error("another key makes the same seal")
	}
	if !tasks.SameSeal(k.Task(one, ""), k.Task(one, "")) {
		t.Error("a row has two seals")
	}
}

func TestKey_spends(t *testing.T) {
	k := tasks.NewSealKey()
	if k.Spent(1) {
		t.Error("spent before it began")
	}
	k.Spend(1)
	if !k.Spent(1) || k.Spent(2) {
		t.Error("what is spent is not what began")
	}
	if k.Renew(1); k.Spent(1) {
		t.Error("it can't start again")
	}
}
