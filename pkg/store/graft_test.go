package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

type leaf struct {
	ID    string    `json:"id,omitempty"`
	Value int       `json:"value,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

type outer struct {
	Leaf     leaf            `json:"leaf"`
	Pointer  *leaf           `json:"pointer,omitempty"`
	List     []leaf          `json:"list,omitempty"`
	ByName   map[string]leaf `json:"by_name,omitempty"`
	Deep     []map[string][]*leaf
	Strings  []string        `json:"strings,omitempty"`
	Anything map[string]any  `json:"anything,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
	Again    *outer          `json:"again,omitempty"`
	Skipped  int             `json:"-"`
	embedded
}

type embedded struct {
	Inner int `json:"inner,omitempty"`
}

func TestGraft(t *testing.T) {
	sh := shapeOf[outer]()
	for name, c := range map[string]struct{ old, fresh, want string }{
		"nothing unknown":      {`{"leaf":{"id":"a","value":1}}`, `{"leaf":{}}`, `{"leaf":{}}`},
		"top":                  {`{"x":1,"leaf":{}}`, `{"leaf":{}}`, `{"leaf":{},"x":1}`},
		"order is kept":        {`{"z":1,"y":{"b":1,"a":2},"x":[]}`, `{"leaf":{}}`, `{"leaf":{},"z":1,"y":{"b":1,"a":2},"x":[]}`},
		"the last one counts":  {`{"x":1,"x":2}`, `{}`, `{"x":2}`},
		"object":               {`{"leaf":{"x":1}}`, `{"leaf":{"id":"b"}}`, `{"leaf":{"id":"b","x":1}}`},
		"object gone":          {`{"pointer":{"x":1}}`, `{}`, `{}`},
		"object null":          {`{"pointer":null}`, `{"pointer":{"id":"a"}}`, `{"pointer":{"id":"a"}}`},
		"another kind":         {`{"leaf":[1],"list":{"x":1},"by_name":7}`, `{"leaf":{},"list":[{}],"by_name":{}}`, `{"leaf":{},"list":[{}],"by_name":{}}`},
		"list by id":           {`{"list":[{"id":"a","x":1},{"id":"b","x":2}]}`, `{"list":[{"id":"b"},{"id":"c"},{"id":"a"}]}`, `{"list":[{"id":"b","x":2},{"id":"c"},{"id":"a","x":1}]}`},
		"list by index":        {`{"list":[{"x":1},{"x":2},{"x":3}]}`, `{"list":[{"value":1},{"value":2}]}`, `{"list":[{"value":1,"x":1},{"value":2,"x":2}]}`},
		"index is not for ids": {`{"list":[{"id":"a","x":1},{"x":2}]}`, `{"list":[{"value":1},{"id":"c"}]}`, `{"list":[{"value":1},{"id":"c"}]}`},
		"map":                  {`{"by_name":{"a":{"x":1},"b":{"x":2}}}`, `{"by_name":{"b":{},"c":{}}}`, `{"by_name":{"b":{"x":2},"c":{}}}`},
		"deep":                 {`{"Deep":[{},{"k":[{},{"x":1}]}]}`, `{"Deep":[{},{"k":[{"value":1},{"value":2}]}]}`, `{"Deep":[{},{"k":[{"value":1},{"value":2,"x":1}]}]}`},
		"recursive":            {`{"again":{"again":{"x":1}}}`, `{"again":{"again":{"leaf":{}}}}`, `{"again":{"again":{"leaf":{},"x":1}}}`},
		"embedded is known":    {`{"inner":1}`, `{}`, `{}`},
		"not a field":          {`{"Skipped":1,"-":2}`, `{}`, `{"Skipped":1,"-":2}`},
		"opaque":               {`{"anything":{"x":1},"raw":{"y":1},"strings":["a"]}`, `{"anything":{},"raw":{}}`, `{"anything":{},"raw":{}}`},
		"other case is known":  {`{"LEAF":{"x":1},"List":[1]}`, `{"leaf":{}}`, `{"leaf":{}}`},
		"escapes":              {`{"\u0078\"\\":"}\"","le\u0061f":{"\n":1}}`, `{"leaf":{}}`, `{"leaf":{"\n":1},"\u0078\"\\":"}\""}`},
		"spaces":               {" { \"x\" :\t[ 1 , { } ] \n, \"leaf\" : { } } ", `{"leaf":{}}`, `{"leaf":{},"x":[ 1 , { } ]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := string(graft(sh, []byte(c.old), []byte(c.fresh)))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if changed := got != c.fresh; changed && !hasUnknown(sh, []byte(c.old)) {
				t.Error("the look before finds nothing")
			}
		})
	}
	if hasUnknown(sh, []byte(`{"leaf":{"id":"a"},"list":[{}],"by_name":{"a":{}},"anything":{"x":1}}`)) {
		t.Error("found something unknown where there is nothing")
	}
}

// A big list is matched without looking at every pair.
func BenchmarkGraftList(b *testing.B) {
	var list []leaf
	for i := range 10000 {
		list = append(list, leaf{ID: strings.Repeat("x", i%7) + time.Duration(i).String()})
	}
	fresh, _ := json.Marshal(outer{List: list})
	old := bytes.Replace(fresh, []byte(`{"leaf"`), []byte(`{"x":1,"leaf"`), 1)
	sh := shapeOf[outer]()
	b.SetBytes(int64(len(fresh)))
	for b.Loop() {
		graft(sh, old, fresh)
	}
}

// FuzzGraft holds the cutting of objects against encoding/json, and graft
// against what it promises: fresh is all there, and nothing else is new but
// members of old.
func FuzzGraft(f *testing.F) {
	f.Add([]byte(`{"leaf":{"x":1},"y":[{"id":"a"}]}`), []byte(`{"leaf":{}}`))
	f.Add([]byte(`{"list":[{"id":"a","x":1.50},{}]}`), []byte(`{"list":[{},{"id":"a"}]}`))
	f.Add([]byte(` {"\\\"":"\\\"","b" : [ ] } `), []byte(`{"by_name":{"\u2028":{}}}`))
	f.Add([]byte("{\"\xd6\":[]}"), []byte(`{}`))
	sh := shapeOf[outer]()
	f.Fuzz(func(t *testing.T, old, fresh []byte) {
		var value outer
		if !json.Valid(old) || json.Unmarshal(fresh, &value) != nil {
			return
		}
		fresh, err := json.Marshal(value)
		if err != nil {
			return
		}
		var object map[string]json.RawMessage
		if first(old) == '{' && json.Unmarshal(old, &object) == nil {
			cut := make(map[string]json.RawMessage)
			for m := range objectMembers(old) {
				cut[m.name()] = m.value
			}
			if !reflect.DeepEqual(cut, object) {
				t.Fatalf("%s is cut into %s", old, cut)
			}
		}
		result := graft(sh, old, fresh)
		if !json.Valid(result) {
			t.Fatalf("%s and %s make %s", old, fresh, result)
		}
		if !hasUnknown(sh, old) && string(result) != string(fresh) {
			t.Fatalf("nothing unknown in %s, but %s became %s", old, fresh, result)
		}
		var back outer
		if err := json.Unmarshal(result, &back); err != nil {
			t.Fatalf("%s does not read back: %v", result, err)
		}
		if again, err := json.Marshal(back); err != nil || string(again) != string(fresh) {
			t.Fatalf("%s became %s by way of %s", fresh, again, result)
		}
	})
}
