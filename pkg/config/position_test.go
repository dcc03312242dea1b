package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

const positionSample = `# a comment with = and [brackets]
top = 1
"quoted key" = "a # in a text"
'single.quoted' = ''
a.b.c = 2

[table] # comment
text = """
more = 1
[no.table]
\""" ""\""""
raw = '''
x = "
'''
list = [ # comment
  1, [2, 3],
  # comment ]
  { x = 1, y.z = [
    4 ] }, # more
]
date = 1979-05-27 07:32:00
[[many]]
k = 1
[many.sub]
k = 2
[[many.inner]]
k = 3
[[many.inner]]
[[many]]
k = 4
[many.sub]
k = 5
[ "x y" . 'z' ]
inline = { a = "}", b = ']', c = { d = 1 } }
`

func TestLocate(t *testing.T) {
	found := locate(positionSample)
	want := map[string]int{
		"top": 2, `"quoted key"`: 3, `"single.quoted"`: 4, "a": 5, "a.b": 5, "a.b.c": 5,
		"table": 7, "table.text": 8, "table.raw": 12,
		"table.list": 15, "table.list[0]": 16, "table.list[1]": 16, "table.list[1][0]": 16, "table.list[1][1]": 16,
		"table.list[2]": 18, "table.list[2].x": 18, "table.list[2].y": 18, "table.list[2].y.z": 18, "table.list[2].y.z[0]": 19,
		"table.date": 21,
		"many":       22, "many[0]": 22, "many[0].k": 23, "many[0].sub": 24, "many[0].sub.k": 25,
		"many[0].inner": 26, "many[0].inner[0]": 26, "many[0].inner[0].k": 27, "many[0].inner[1]": 28,
		"many[1]": 29, "many[1].k": 30, "many[1].sub": 31, "many[1].sub.k": 32,
		`"x y"`: 33, `"x y".z`: 33, `"x y".z.inline`: 34, `"x y".z.inline.a`: 34, `"x y".z.inline.b`: 34,
		`"x y".z.inline.c`: 34, `"x y".z.inline.c.d`: 34,
	}
	for key, line := range want {
		if found.lines[key] != line {
			t.Errorf("%s: line %d, want %d", key, found.lines[key], line)
		}
	}
	for key := range found.lines {
		if want[key] == 0 {
			t.Errorf("%s was found on line %d, and is not there", key, found.lines[key])
		}
	}
	if got := len(found.order); got != len(want) {
		t.Errorf("%d keys in order, want %d", got, len(want))
	}
}

func TestLocateWithCarriageReturns(t *testing.T) {
	found := locate(strings.ReplaceAll(positionSample, "\n", "\r\n"))
	if found.lines[`"x y".z.inline.c.d`] != 34 {
		t.Errorf("last key on line %d, want 34", found.lines[`"x y".z.inline.c.d`])
	}
}

func TestLocateStopsAtNonsense(t *testing.T) {
	for _, text := range []string{"=", "a", "a=", "[", "[[a]", "a = [1", "a = {", "a = '", `a = """`, `"a`, `a = "\`, "a..b = 1"} {
		found := locate(text)
		if found.lines["b"] != 0 {
			t.Errorf("%q: it went on behind what it did not understand", text)
		}
	}
}

func TestLocateRefusesDepth(t *testing.T) {
	for name, text := range map[string]string{
		"lists":  "a = 1\nb = " + strings.Repeat("[", 1<<20),
		"tables": "a = 1\nb = " + strings.Repeat("{a=", 1<<18),
		"keys":   "a = 1\n" + strings.Repeat("a.", 1<<18) + "a = 1",
		"header": "a = 1\n[" + strings.Repeat("a.", 1<<18) + "a]",
	} {
		if found := locate(text); found.tooDeep != 2 {
			t.Errorf("%s: too deep on line %d, want 2", name, found.tooDeep)
		}
	}
}

// treeKeys are all keys of a tree as the TOML library sees it.
func treeKeys(key string, data any, keys []string) []string {
	if key != "" {
		keys = append(keys, key)
	}
	if m, ok := data.(map[string]any); ok {
		for name, value := range m {
			keys = treeKeys(join(key, name), value, keys)
		}
	}
	if elements, ok := asList(data); ok {
		for i, e := range elements {
			keys = treeKeys(element(key, i), e, keys)
		}
	}
	return keys
}

// checkLocate holds the scanner against the TOML library: what the library
// understands has exactly the keys that the scanner found.
func checkLocate(t *testing.T, text string) {
	found := locate(text)
	if found.tooDeep > 0 {
		return
	}
	var tree map[string]any
	if tree, _ = parseOrNil(text); tree == nil {
		return
	}
	keys := treeKeys("", tree, nil)
	lines := strings.Count(text, "\n") + 1
	for _, key := range keys {
		if line := found.lines[key]; line < 1 || line > lines {
			t.Errorf("%s has line %d of %d", key, line, lines)
		}
	}
	for key := range found.lines {
		if !slices.Contains(keys, key) {
			t.Errorf("%s was found and is not there", key)
		}
	}
	if t.Failed() {
		t.Logf("%q", text)
	}
}

func parseOrNil(text string) (map[string]any, error) {
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	return tree, nil
}

func TestLocateAgreesWithTheLibrary(t *testing.T) {
	var tree map[string]any
	if _, err := toml.Decode(positionSample, &tree); err != nil {
		t.Fatal(err)
	}
	checkLocate(t, positionSample)
}

func FuzzLocate(f *testing.F) {
	f.Add(positionSample)
	for i, text := range []string{"a = 1", "[[a]]\n[a.b]\n[[a]]", "a = [{b=1},{b=2}]", "a.b.c = [[], [1]]", `"\u0041" = "\""`, "a = '''''x'''''", "a=[\n1,\n]\r\n"} {
		f.Add(text + fmt.Sprintf("\n# %d", i))
	}
	f.Fuzz(checkLocate)
}
