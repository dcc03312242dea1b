package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/backburner-cli/backburner/pkg/config"
)

// write puts text into backburner.toml in a new folder and returns the folder.
func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// load reads text as the file of the working directory.
func load(t *testing.T, text string) (*config.Config, error) {
	t.Helper()
	return config.Load(config.Sources{Dir: write(t, text)})
}

func TestDesignExample(t *testing.T) {
	text, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, string(text)); err != nil {
		t.Fatal(err)
	}
}
