package cmd

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/work"
)

// configTopics are what `config` can print, in the order of its help.
var configTopics = []string{"keys", "schema"}

func configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "what can be configured: every key, or a JSON schema for editors", ArgsUsage: "keys [PREFIX] | schema",
		Description: `keys lists every key that backburner.toml may have, with its default or an example.
A key of a fixed place can also be set in the environment: tick.max_agents is
BACKBURNER_TICK_MAX_AGENTS. With --json there is more of each.

schema prints the JSON schema that editors complete and check the file with; the
first line of what init writes names it.

Examples:
   backburner config keys
   backburner config keys tick
   backburner config schema > backburner.schema.json`,
		Action: configAction,
	}
}

func configAction(c *cli.Context) error {
	if err := wantArgs(c, 1, 2); err != nil {
		return err
	}
	topic, prefix := c.Args().First(), c.Args().Get(1)
	switch {
	case topic == "keys":
		return configKeys(c, prefix)
	case topic == "schema" && prefix == "":
		text, err := config.Schema()
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(text)
		return err
	}
	return usage("config takes %s%s; see: backburner config --help", c.Command.ArgsUsage, didYouMean(topic, configTopics))
}

// configKeys prints the keys at or below a prefix.
func configKeys(c *cli.Context, prefix string) error {
	keys := []config.Key{}
	for _, k := range config.Keys() {
		if prefix == "" || strings.HasPrefix(k.Name, prefix) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return usage("no key begins with %q; see: backburner config keys", prefix)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, map[string]any{"keys": keyRecords(keys)})
	}
	return printKeys(c.App.Writer, keys)
}

// keyRecord is a key as JSON.
type keyRecord struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Default string   `json:"default,omitempty"` // as TOML
	Example string   `json:"example,omitempty"` // as TOML
	Values  []string `json:"values,omitempty"`  // the only ones
	Env     string   `json:"env,omitempty"`     // "": only the file can set it
	Doc     string   `json:"doc"`
}

func keyRecords(keys []config.Key) []keyRecord {
	all := make([]keyRecord, len(keys))
	for i, k := range keys {
		all[i] = keyRecord(k)
	}
	return all
}

// printKeys prints one line per key, for people and for grep.
func printKeys(out io.Writer, keys []config.Key) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tTYPE\tDEFAULT\tWHAT IT IS")
	for _, k := range keys {
		value := k.Default
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", k.Name, k.Type, work.Clip(value, 44), k.Doc+choices(k))
	}
	return table.Flush()
}

// choices are the values a key may have, or one it could have.
func choices(k config.Key) string {
	switch {
	case len(k.Values) > 0:
		return " (" + strings.Join(k.Values, ", ") + ")"
	case k.Default == "" && k.Example != "":
		return ", e.g. " + k.Example
	}
	return ""
}
