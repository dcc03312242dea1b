package work_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// fill gives every field of a value something that is not its zero.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	if at, is := v.Addr().Interface().(*time.Time); is {
		*at = noon.Add(time.Duration(*n) * time.Second)
		return
	}
	if raw, is := v.Addr().Interface().(*json.RawMessage); is {
		*raw = json.RawMessage(fmt.Sprintf(`{"s":%d}`, *n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(t, v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a record holds a %s", v.Kind())
	}
}

func TestCloneLosesNothing(t *testing.T) {
	w := new(work.Workstream)
	n := 0
	fill(t, reflect.ValueOf(w).Elem(), &n)
	c := w.Clone()
	if !reflect.DeepEqual(w, c) {
		t.Errorf("the clone differs:\n%s\n%s", record(t, w), record(t, c))
	}
	shared(t, "Workstream", reflect.ValueOf(w).Elem(), reflect.ValueOf(c).Elem())
	if empty := new(work.Workstream); !reflect.DeepEqual(empty, empty.Clone()) {
		t.Error("the clone of an empty one is not empty")
	}
}

// shared finds what two values have in common in memory.
func shared(t *testing.T, where string, a, b reflect.Value) {
	t.Helper()
	if _, is := a.Interface().(time.Time); is {
		return
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", where)
			return
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		shared(t, where, a.Elem(), b.Elem())
	case reflect.Slice:
		for i := range a.Len() {
			shared(t, fmt.Sprintf("%s[%d]", where, i), a.Index(i), b.Index(i))
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			shared(t, where+"[]", a.MapIndex(key), b.MapIndex(key))
		}
	case reflect.Struct:
		for i := range a.NumField() {
			shared(t, where+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	}
}

// TestRecordsSurviveJSON holds for all that is written to disk.
func TestRecordsSurviveJSON(t *testing.T) {
	for _, v := range []any{new(work.Workstream), new(work.Execution), new(work.Request), new(work.Repository), new(work.AgentStates), new(work.Ledger), new(work.Tick), new(work.Result)} {
		n := 0
		fill(t, reflect.ValueOf(v).Elem(), &n)
		data, err := json.Marshal(v)
		must(t, err)
		back := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		must(t, json.Unmarshal(data, back))
		if !reflect.DeepEqual(v, back) {
			t.Errorf("%T came back as %+v", v, back)
		}
	}
}

func TestSayOnce(t *testing.T) {
	w := stream(work.Building)
	w.Say("a", "plan", "first", noon.In(time.FixedZone("", 3600)))
	w.Say("a", "plan", "again", noon)
	w.Say("b", "plan", "other", noon)
	w.Outbox = w.Outbox[1:] // the first was told
	w.Say("a", "plan", "once more", noon)
	if len(w.Outbox) != 1 || w.Outbox[0].ID != "b" || len(w.Told) != 2 {
		t.Errorf("outbox %+v, told %q", w.Outbox, w.Told)
	}
	if at := w.Outbox[0].At; at.Location() != time.UTC {
		t.Errorf("said at %s", at)
	}
}

func TestIntents(t *testing.T) {
	w := stream(work.QA)
	w.Intend(work.Intent{ID: "a", New: "1"})
	w.Intend(work.Intent{ID: "b", New: "2"})
	w.Intend(work.Intent{ID: "a", New: "3"})
	if len(w.Intents) != 2 || w.Intent("a").New != "1" || w.Intent("c") != nil {
		t.Fatalf("intents %+v", w.Intents)
	}
	w.Done("c")
	w.Done("a")
	if w.Intent("a") != nil || w.Intent("b") == nil || len(w.Intents) != 1 {
		t.Errorf("intents %+v", w.Intents)
	}
}

func TestOpenQuestions(t *testing.T) {
	w := stream(work.AwaitingInput)
	w.Questions = append(w.Questions, &work.Question{ID: "q2", AnsweredAt: noon}, &work.Question{ID: "q3"})
	if open := w.OpenQuestions(); len(open) != 2 || open[0].ID != "q1" || open[1].ID != "q3" {
		t.Errorf("open %+v", open)
	}
}
