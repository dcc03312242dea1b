package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = modulePath

// row is a package, the packages of ours it may import, and why.
type row struct {
	from string
	to   []string
	why  string
}

// arrows is the architecture diagram. Every import points down the page. What is
// not here is not allowed, and what is here is there: a package without a row
// fails, and so does an arrow that nobody follows.
var arrows = []row{
	{"main", to("cmd"), "the program"},
	{
		"cmd", to("pass", "report", "config", "export", "workspace", "agent", "gate", "forge/github", "forge/local", "forge", "store", "lease", "git", "budget", "work", "proc"),
		"the command line; wire.go turns configuration into what a pass works with, so it alone knows everybody",
	},

	// The story, and how it is told.
	{
		"pass", to("workspace", "agent", "gate", "forge", "store", "prompt", "git", "budget", "work"),
		"what a tick does, row by row; of git only the type of a comparison",
	},
	{"report", to("work"), "shows records; decides nothing about them"},

	{"export", to("workspace", "store", "atomicfile", "work"), "a state and its work as one file; what is in the parts is theirs to say"},

	// What a pass works with. None of these knows another.
	{"workspace", to("git", "atomicfile"), "stores and checkouts: git plus files that survive a crash"},
	{"agent", to("proc", "work"), "runs a command line and reads its answer into the words of the domain"},
	{"gate", to("proc", "atomicfile", "work"), "runs commands and writes their evidence"},
	{"forge/github", to("forge", "work"), "the other: GitHub's two interfaces and their words"},
	{"forge/local", to("forge", "atomicfile", "work"), "one forge: specs and threads that are files"},
	{"forge", to("work"), "the few types that all forges share"},
	{"forge/github/githubtest", to("proc"), "GitHub for tests: imported by tests only, and by none of ours told how GitHub is"},
	{"store", to("atomicfile", "work"), "the domain's records as files"},
	{"prompt", to("work"), "what an agent is told, and the form of its answer"},
	{"lease", to("proc", "atomicfile"), "a file, and whether the process it names is alive"},
	{"git", to("proc"), "git is a program"},

	// What everybody stands on, which knows nothing of ours.
	{"work", nil, "the domain: pure"},
	{"budget", nil, "arithmetic on spending and hours: pure"},
	{"config", nil, "names, defaults and checks of settings; translated in cmd, so nothing below depends on the form of a file"},
	{"proc", nil, "processes"},
	{"atomicfile", nil, "files"},
}

// homes says which packages may import something from outside, and why nobody
// else. A module without a line here must not be imported at all; of the
// standard library only what is named here has a home.
var homes = []row{
	{"github.com/urfave/cli/v2", to("cmd"), "what was typed is the command line's business"},
	{"github.com/cli/go-gh/v2", to("forge/github"), "logins and requests as gh has them"},
	{"github.com/charmbracelet/log", to("cmd"), "a slog handler; below cmd there is only *slog.Logger"},
	{"github.com/BurntSushi/toml", to("config"), "nobody else knows that the configuration is TOML"},
	{"github.com/vektah/gqlparser/v2", to("forge/github/githubtest"), "GitHub's side of GraphQL, in tests"},
	{"github.com/google/jsonschema-go", to("config", "forge/github/githubtest", "prompt"), "the schema of the file, that of an answer, and those of GitHub"},
	{"github.com/mattn/go-runewidth", to("report"), "columns of a terminal"},
	{"golang.org/x/term", to("cmd", "report"), "whether there is a terminal, and how wide"},
	{"golang.org/x/sys", to("cmd", "forge/local", "lease", "proc", "atomicfile"), "calls of the kernel that the standard library lacks"},
	{"github.com/rogpeppe/go-internal", nil, "scripts; tests only"},
	{"os/exec", to("proc"), "one place that starts processes, and that ends them"},
	{"log/slog", to("cmd", "pass"), "adapters return errors; only the story is told"},
}

// pure are the packages that decide, and so must not look or act.
var pure = to("work", "budget")

// impure is what a pure package has no use for.
var impure = []string{"os", "os/exec", "os/signal", "io/fs", "net", "net/http", "syscall", "path/filepath", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog"}

// free may be imported by any test: tests drive real processes, with scripts,
// and a GitHub of their own.
var free = []string{"os/exec", "github.com/rogpeppe/go-internal", "forge/github/githubtest"}

func to(names ...string) []string { return names }

func TestArrows(t *testing.T) {
	imports := importsOf(t, false)
	place := make(map[string]int)
	for i, r := range arrows {
		place[r.from] = i
	}
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		if _, ok := place[from]; !ok {
			t.Errorf("package %s has no row: say where it stands, what it may import, and why", from)
		}
	}
	for i, r := range arrows {
		found, ok := imports[r.from]
		if !ok {
			t.Errorf("row %s: there is no such package", r.from)
			continue
		}
		for path := range found {
			if name, ok := ours(path); ok && !slices.Contains(r.to, name) {
				t.Errorf("%s imports %s, which its row does not allow: %s", r.from, name, r.why)
			}
		}
		for _, name := range r.to {
			if !found[pathOf(name)] {
				t.Errorf("%s does not import %s: take the arrow out of its row", r.from, name)
				continue
			}
			if place[name] <= i {
				t.Errorf("the arrow from %s to %s does not point down the page", r.from, name)
			}
		}
		if r.why == "" {
			t.Errorf("row %s has no reason", r.from)
		}
	}
}

func TestHomes(t *testing.T) {
	followed := make(map[string]bool)
	for from, paths := range importsOf(t, false) {
		for path := range paths {
			h := homeOf(path)
			if h == nil {
				if outside(path) {
					t.Errorf("%s imports %s, which has no home", from, path)
				}
				continue
			}
			followed[h.from+" "+from] = true
			if !slices.Contains(h.to, from) {
				t.Errorf("%s imports %s, which belongs to %v: %s", from, path, h.to, h.why)
			}
		}
	}
	for _, h := range homes {
		for _, from := range h.to {
			if !followed[h.from+" "+from] {
				t.Errorf("%s does not import %s: take it out of the list of homes", from, h.from)
			}
		}
	}
}

// TestTestArrows holds tests to the same arrows: a test that needs more than its
// package tests something else. Those of cmd are the whole program's.
func TestTestArrows(t *testing.T) {
	rows := make(map[string]row)
	for _, r := range arrows {
		rows[r.from] = r
	}
	for from, paths := range importsOf(t, true) {
		for path := range paths {
			name, isOurs := ours(path)
			if isOurs && name != from && from != "cmd" && !slices.Contains(free, name) && !slices.Contains(rows[from].to, name) {
				t.Errorf("a test of %s imports %s, which %s may not", from, name, from)
			}
			h := homeOf(path)
			if h != nil && !slices.Contains(h.to, from) && !slices.Contains(free, h.from) {
				t.Errorf("a test of %s imports %s, which belongs to %v: %s", from, path, h.to, h.why)
			}
			if h == nil && outside(path) {
				t.Errorf("a test of %s imports %s, which has no home", from, path)
			}
		}
	}
}

func TestPure(t *testing.T) {
	imports := importsOf(t, false)
	for _, name := range pure {
		for _, path := range impure {
			if imports[name][path] {
				t.Errorf("%s imports %s, but decides only", name, path)
			}
		}
	}
}

// importsOf is what each package imports on any system we build for: the
// package itself, or its tests.
func importsOf(t *testing.T, tests bool) map[string]map[string]bool {
	t.Helper()
	all := make(map[string]map[string]bool)
	for _, system := range []string{"linux", "darwin"} {
		for _, p := range list(t, system) {
			name, _ := ours(p.ImportPath)
			if all[name] == nil {
				all[name] = make(map[string]bool)
			}
			paths := p.Imports
			if tests {
				paths = slices.Concat(p.TestImports, p.XTestImports)
			}
			for _, path := range paths {
				all[name][path] = true
			}
		}
	}
	if len(all) < 2 {
		t.Fatalf("go list found %d packages", len(all))
	}
	return all
}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func list(t *testing.T, system string) []listed {
	t.Helper()
	c := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	c.Dir = ".."
	c.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// ours is the short name of a package of ours, as in the rows.
func ours(path string) (string, bool) {
	if path == module {
		return "main", true
	}
	rest, ok := strings.CutPrefix(path, module+"/")
	return strings.TrimPrefix(rest, "pkg/"), ok
}

func pathOf(name string) string {
	switch name {
	case "main":
		return module
	case "cmd":
		return module + "/cmd"
	}
	return module + "/pkg/" + name
}

// homeOf is the row in homes that a path falls under.
func homeOf(path string) *row {
	for i := range homes {
		if path == homes[i].from || strings.HasPrefix(path, homes[i].from+"/") {
			return &homes[i]
		}
	}
	return nil
}

// outside reports whether a path is neither ours nor of the standard library,
// whose first elements have no dot.
func outside(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	_, isOurs := ours(path)
	return strings.Contains(first, ".") && !isOurs
}
