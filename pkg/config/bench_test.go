package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/backburner-cli/backburner/pkg/config"
)

// BenchmarkLoad is held against BenchmarkLibrary, the TOML library alone, which is
// the floor: the rest should not cost more than a few times as much.
func BenchmarkLoad(b *testing.B) {
	text, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), text, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := config.Load(config.Sources{Dir: dir, Env: os.Environ()}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLibrary(b *testing.B) {
	text, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var tree map[string]any
		if _, err := toml.Decode(string(text), &tree); err != nil {
			b.Fatal(err)
		}
	}
}
