package config

import (
	"encoding/json"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"time"
)

// Guess finds out how a project is checked, from the files at its root: fast is
// what takes seconds, full is everything. Both are empty when nothing is known.
// What it finds is a proposal for a person to look at; it runs nothing.
func Guess(root fs.FS) (fast, full []Step) {
	p := project{root: root}
	for _, guess := range []func(project) (fast, full []Step){guessGo, guessCargo, guessNode, guessPython, guessMaven, guessGradle} {
		f, all := guess(p)
		fast, full = append(fast, f...), append(full, all...)
	}
	if len(full) == 0 {
		// Make is asked last: where there is a language's own tool, make calls it.
		fast, full = guessMake(p)
	}
	if len(fast) == 0 {
		fast = full
	}
	return fast, full
}

// project answers questions about the root of a checkout, whose content is not
// trusted: only names of ours become commands, never text of the files.
type project struct{ root fs.FS }

func (p project) has(name string) bool {
	info, err := fs.Stat(p.root, name)
	return err == nil && info.Mode().IsRegular()
}

// text is the beginning of a file; "" when there is none.
func (p project) text(name string) string {
	const enough = 1 << 20
	if !p.has(name) {
		return ""
	}
	f, err := p.root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, enough))
	return string(data)
}

// step is a command whose name is its last words.
func step(name string, timeout time.Duration, run ...string) Step {
	return Step{Name: name, Run: run, Timeout: timeout}
}

const (
	quick = 5 * time.Minute
	slow  = 30 * time.Minute
)

func guessGo(p project) (fast, full []Step) {
	if !p.has("go.mod") {
		return nil, nil
	}
	vet := step("go vet", quick, "go", "vet", "./...")
	return []Step{vet}, []Step{vet, step("go test", slow, "go", "test", "./...")}
}

func guessCargo(p project) (fast, full []Step) {
	if !p.has("Cargo.toml") {
		return nil, nil
	}
	return []Step{step("cargo check", slow, "cargo", "check", "--all-targets")},
		[]Step{step("cargo test", slow, "cargo", "test")}
}

func guessNode(p project) (fast, full []Step) {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(p.text("package.json")), &manifest) != nil {
		return nil, nil
	}
	tool := "npm"
	switch {
	case p.has("pnpm-lock.yaml"):
		tool = "pnpm"
	case p.has("yarn.lock"):
		tool = "yarn"
	case p.has("bun.lock"), p.has("bun.lockb"):
		tool = "bun"
	}
	for _, script := range []string{"typecheck", "lint"} {
		if manifest.Scripts[script] != "" {
			fast = append(fast, step(script, quick, tool, "run", script))
		}
	}
	full = append(full, fast...)
	// npm init writes a test script that says there are no tests, and fails.
	if test := manifest.Scripts["test"]; test != "" && !strings.Contains(test, "no test specified") {
		full = append(full, step(tool+" test", slow, tool, "run", "test"))
	}
	return fast, full
}

func guessPython(p project) (fast, full []Step) {
	manifest := p.text("pyproject.toml")
	var runner []string
	switch {
	case p.has("uv.lock"):
		runner = []string{"uv", "run"}
	case p.has("poetry.lock"):
		runner = []string{"poetry", "run"}
	}
	with := func(args ...string) []string { return append(runner[:len(runner):len(runner)], args...) }
	if strings.Contains(manifest, "[tool.ruff") || p.has("ruff.toml") || p.has(".ruff.toml") {
		fast = append(fast, step("ruff", quick, with("ruff", "check", ".")...))
	}
	full = append(full, fast...)
	switch {
	case strings.Contains(manifest, "pytest"), p.has("pytest.ini"), p.has("conftest.py"), p.has("tests/conftest.py"),
		strings.Contains(p.text("setup.cfg"), "[tool:pytest]"), strings.Contains(p.text("requirements-dev.txt"), "pytest"):
		full = append(full, step("pytest", slow, with("pytest", "-q")...))
	case p.has("tox.ini"):
		full = append(full, step("tox", slow, with("tox")...))
	}
	return fast, full
}

func guessMaven(p project) (fast, full []Step) {
	tool := "mvn"
	switch {
	case p.has("mvnw"):
		tool = "./mvnw"
	case !p.has("pom.xml"):
		return nil, nil
	}
	return []Step{step("compile", slow, tool, "-q", "-B", "test-compile")}, []Step{step("verify", slow, tool, "-q", "-B", "verify")}
}

func guessGradle(p project) (fast, full []Step) {
	tool := "gradle"
	switch {
	case p.has("gradlew"):
		tool = "./gradlew"
	case !p.has("build.gradle") && !p.has("build.gradle.kts"):
		return nil, nil
	}
	return []Step{step("compile", slow, tool, "testClasses")}, []Step{step("check", slow, tool, "check")}
}

func guessMake(p project) (fast, full []Step) {
	rules := p.text("GNUmakefile") + "\n" + p.text("makefile") + "\n" + p.text("Makefile")
	has := func(target string) bool {
		return regexp.MustCompile(`(?m)^` + target + `\s*:([^=]|$)`).MatchString(rules)
	}
	if has("lint") {
		fast = append(fast, step("make lint", quick, "make", "lint"))
	}
	full = append(full, fast...)
	for _, target := range []string{"test", "check"} {
		if has(target) {
			return fast, append(full, step("make "+target, slow, "make", target))
		}
	}
	return fast, full
}
