package config_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/backburner-cli/backburner/pkg/config"
)

var update = flag.Bool("update", false, "write backburner.schema.json")

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestPublishedSchema(t *testing.T) {
	const published = "backburner.schema.json"
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		put(t, published, string(text))
	}
	there, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(there, text) {
		t.Errorf("%s is out of date; run go test ./pkg/config -run PublishedSchema -update", published)
	}
}

// schemaKeys are the names of all settings in a schema, as in config.Keys.
func schemaKeys(s *jsonschema.Schema, key string) []string {
	switch {
	case s.Type == "object" && s.Properties != nil:
		var keys []string
		for name, property := range s.Properties {
			keys = append(keys, schemaKeys(property, strings.TrimPrefix(key+"."+name, "."))...)
		}
		return keys
	case s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Type == "object":
		return schemaKeys(s.AdditionalProperties, key+".NAME")
	case s.Type == "array" && s.Items.Type == "object":
		return schemaKeys(s.Items, key+"[]")
	}
	return []string{key}
}

func TestSchemaHasExactlyTheKeys(t *testing.T) {
	var want []string
	for _, key := range config.Keys() {
		want = append(want, key.Name)
	}
	got := schemaKeys(schema(t), "")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// asJSON is a TOML document in the form in which editors validate it.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSchemaJudges(t *testing.T) {
	resolved, err := schema(t).Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		t.Fatal(err)
	}
	found := config.Found{Slug: "acme/shop", Agents: []string{"claude"}}
	for name, text := range map[string]string{
		"documented example": string(all),
		"init's example":     string(config.Example(found)),
		"all of it":          uncommentAll(string(config.Example(found))),
		"durations":          "[tick]\ndeadline = '1h30m'\n[retry]\nattempts = 3\n[agent.a]\npreset = 'claude'\nidle_timeout = '1.5h'",
	} {
		if err := resolved.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"unknown key":         "[tick]\nmax_agnts = 1",
		"unknown table":       "[tickk]",
		"wrong type":          "[tick]\nmax_agents = '1'",
		"fraction":            "[tick]\nmax_agents = 1.5",
		"too little":          "[tick]\nmax_agents = 0",
		"too much":            "[budget]\nalert_percent = 101",
		"unknown word":        "[state]\nbackend = 'gti'",
		"unknown word inside": "[mainline]\ncheck_before = ['x']",
		"number as duration":  "[tick]\ndeadline = 50",
		"duration":            "[tick]\ndeadline = '50'",
		"empty command":       "[agent.a]\ncommand = []",
		"step without run":    "[gate.fast]\nsteps = [{ name = 'x' }]",
		"slug":                "[[repository]]\nslug = 'shop'",
		"table, not list":     "[repository]\nslug = 'a/b'",
		"name of an agent":    "[agent.'a b']",
		"unknown role":        "[roles]\nbilder = []",
		"variable's name":     "[notify.slack]\nwebhook_env = 'https://x'",
		"coverage":            "[gate.full]\nsteps = [{ run = ['a'], coverage = { file = 'x', format = 'go' } }]",
	} {
		if resolved.Validate(asJSON(t, text)) == nil {
			t.Errorf("%s passes the schema", name)
		}
		if _, err := load(t, text); err == nil {
			t.Errorf("%s loads", name)
		}
	}
}
