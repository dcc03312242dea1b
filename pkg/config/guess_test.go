package config_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/backburner-cli/backburner/pkg/config"
)

// commands are the command lines of steps, one after the other.
func commands(steps []config.Step) string {
	var lines []string
	for _, s := range steps {
		lines = append(lines, strings.Join(s.Run, " "))
	}
	return strings.Join(lines, "; ")
}

func TestGuess(t *testing.T) {
	load := loader(t)
	for _, tc := range []struct {
		name       string
		files      map[string]string
		fast, full string
	}{
		{"nothing", nil, "", ""},
		{"go", map[string]string{"go.mod": ""}, "go vet ./...", "go vet ./...; go test ./..."},
		{"rust", map[string]string{"Cargo.toml": ""}, "cargo check --all-targets", "cargo test"},
		{"npm", map[string]string{"package.json": `{"scripts": {"test": "jest", "lint": "eslint ."}}`}, "npm run lint", "npm run lint; npm run test"},
		{"npm without tests", map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, "", ""},
		{"npm, broken", map[string]string{"package.json": `{"scripts": 5`}, "", ""},
		{"npm, not even an object", map[string]string{"package.json": `null`}, "", ""},
		{"pnpm", map[string]string{"package.json": `{"scripts": {"test": "vitest"}}`, "pnpm-lock.yaml": ""}, "pnpm run test", "pnpm run test"},
		{"yarn", map[string]string{"package.json": `{"scripts": {"typecheck": "tsc", "test": "x"}}`, "yarn.lock": ""}, "yarn run typecheck", "yarn run typecheck; yarn run test"},
		{"bun", map[string]string{"package.json": `{"scripts": {"test": "bun test"}}`, "bun.lock": ""}, "bun run test", "bun run test"},
		{"pytest", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]"}, "pytest -q", "pytest -q"},
		{"pytest with uv and ruff", map[string]string{"pyproject.toml": "dev = ['pytest']\n[tool.ruff]", "uv.lock": ""}, "uv run ruff check .", "uv run ruff check .; uv run pytest -q"},
		{"pytest with poetry", map[string]string{"conftest.py": "", "poetry.lock": ""}, "poetry run pytest -q", "poetry run pytest -q"},
		{"tox", map[string]string{"tox.ini": ""}, "tox", "tox"},
		{"maven", map[string]string{"pom.xml": ""}, "mvn -q -B test-compile", "mvn -q -B verify"},
		{"maven wrapper", map[string]string{"pom.xml": "", "mvnw": ""}, "./mvnw -q -B test-compile", "./mvnw -q -B verify"},
		{"gradle", map[string]string{"build.gradle.kts": ""}, "gradle testClasses", "gradle check"},
		{"gradle wrapper", map[string]string{"gradlew": ""}, "./gradlew testClasses", "./gradlew check"},
		{"make", map[string]string{"Makefile": "all:\n\ttrue\nlint: x\ntest : lint\n\ttrue\n"}, "make lint", "make lint; make test"},
		{"make check", map[string]string{"GNUmakefile": "check:\n"}, "make check", "make check"},
		{"make with a variable", map[string]string{"Makefile": "test := 1\ntesting:\n\ttest: no\n"}, "", ""},
		{"make beside go", map[string]string{"Makefile": "test:\n", "go.mod": ""}, "go vet ./...", "go vet ./...; go test ./..."},
		{"two languages", map[string]string{"go.mod": "", "package.json": `{"scripts": {"test": "x"}}`}, "go vet ./...", "go vet ./...; go test ./...; npm run test"},
		{"folders of that name", map[string]string{"go.mod/x": "", "Makefile/x": ""}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tc.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			fast, full := config.Guess(root)
			if commands(fast) != tc.fast || commands(full) != tc.full {
				t.Errorf("got  %q and %q\nwant %q and %q", commands(fast), commands(full), tc.fast, tc.full)
			}
			if _, err := load(string(config.Example(config.Found{Fast: fast, Full: full}))); err != nil {
				t.Errorf("init would write what does not load: %v", err)
			}
		})
	}
}
