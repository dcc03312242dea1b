package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Found is what init found out about a repository and the machine.
type Found struct {
	Slug   string   // on GitHub; empty: local
	Path   string   // of a local repository; empty: "."
	Base   string   // empty: main
	Agents []string // presets that are installed, the preferred first
	Fast   []Step   // see Guess
	Full   []Step
}

// Example is a configuration file for what was found: the rest of the settings is
// there with its defaults or an example, commented out with # and no space, so
// that taking the # away gives a valid line (or block, where it starts with a
// header).
func Example(found Found) []byte {
	var e example
	e.line("#:schema " + SchemaURL)
	e.line("# Configuration of backburner. Lines that begin with # and no space are settings with")
	e.line("# their defaults, or examples: take the # away to use one. `backburner doctor` checks.")
	e.repository(found)
	e.agents(found.Agents)
	e.gates(found)
	for _, section := range []string{"budget", "tick", "retry", "mainline", "git", "github", "forge", "state", "workspace", "retention"} {
		e.section(section)
	}
	e.services()
	return []byte(e.text.String())
}

// example writes the file.
type example struct{ text strings.Builder }

func (e *example) line(text string) { e.text.WriteString(text + "\n") }

// setting is one line, with its documentation at the end, or before it when the
// line is long.
func (e *example) setting(text, doc string) {
	const column, widest = 38, 112
	if doc != "" && (len(text) > column || column+len(doc) > widest) {
		e.line("# " + doc)
		doc = ""
	}
	if doc == "" {
		e.line(text)
		return
	}
	e.line(fmt.Sprintf("%-*s # %s", column, text, doc))
}

// header opens a table after an empty line; doc says what it is about.
func (e *example) header(text, doc string) {
	e.line("")
	if doc != "" {
		e.line("# " + doc)
	}
	e.line(text)
}

// table writes the settings of a table: those in live as they are there, the rest
// commented out with the sample, default or example.
func (e *example) table(t reflect.Type, live, sample map[string]string, leaveOut ...string) {
	for _, f := range fieldsOf(t) {
		value, isLive := live[f.name]
		switch {
		case isLive:
			e.setting(f.name+" = "+value, f.doc)
		case slices.Contains(leaveOut, f.name), f.typ.Kind() == reflect.Struct && shapeOf(f.typ) == table:
		default:
			if value = sample[f.name]; value == "" {
				value = f.sample()
			}
			e.setting("#"+f.name+" = "+value, f.doc)
		}
	}
}

// sample is a valid value to show: the default, else the example, else nothing in
// the form of the type.
func (f *field) sample() string {
	switch {
	case f.hasDefault:
		return f.defaultTOML()
	case f.example != "":
		return f.example
	}
	return valueTOML(reflect.Zero(f.typ))
}

// section is a table with a fixed name, and those below it.
func (e *example) section(key string) {
	f := fieldNamed(reflect.TypeFor[Config](), key)
	e.header("["+key+"]", f.doc)
	e.table(f.typ, nil, nil)
	for _, inner := range fieldsOf(f.typ) {
		if inner.typ.Kind() == reflect.Struct && shapeOf(inner.typ) == table {
			e.header("["+key+"."+inner.name+"]", inner.doc)
			e.table(inner.typ, nil, nil)
		}
	}
}

func (e *example) repository(found Found) {
	e.header("[[repository]]", "")
	t := reflect.TypeFor[Repository]()
	live := map[string]string{"base": tomlText(cmp.Or(found.Base, "main"))}
	if found.Slug != "" {
		live["slug"] = tomlText(found.Slug)
		e.choices(t, "path")
	} else {
		live["path"] = tomlText(cmp.Or(found.Path, "."))
		e.choices(t, "slug")
	}
	e.table(t, live, map[string]string{"gates": "{}"}, "slug", "path")
}

func (e *example) agents(presets []string) {
	t := reflect.TypeFor[Agent]()
	comment := ""
	if len(presets) == 0 {
		e.line("")
		e.line("# No known agent was found. Install one, or tell where it is:")
		presets, comment = []string{"claude"}, "#"
	}
	for i, preset := range presets {
		e.header(comment+"[agent."+preset+"]", "")
		e.setting(comment+"preset = "+tomlText(preset), "")
		if i == 0 {
			e.table(t, nil, map[string]string{"command": tomlList([]string{"/usr/local/bin/" + preset})}, "preset")
		}
	}
	e.header("#[agent.mine]", "a program of your own; see the custom agent contract")
	e.line("#preset = \"custom\"")
	e.line("#command = [\"./my-agent.sh\"]")
	roles := fieldNamed(reflect.TypeFor[Config](), "roles")
	e.header("[roles]", roles.doc)
	sample := map[string]string{}
	for _, f := range fieldsOf(roles.typ) {
		sample[f.name] = tomlList(presets[:1])
	}
	e.table(roles.typ, nil, sample)
}

func (e *example) gates(found Found) {
	t := reflect.TypeFor[Gate]()
	e.line("")
	e.line("# Commands that must pass: fast after each increment, full before work is published. There")
	e.line("# is no shell. A step may also have")
	for _, f := range fieldsOf(reflect.TypeFor[Step]()) {
		if f.name != "name" && f.name != "run" {
			e.setting("#   "+f.name+" = "+f.sample(), f.doc)
		}
	}
	if len(found.Full) == 0 {
		e.line("# No test command was found; without gates nothing is tested.")
	}
	for _, gate := range []struct {
		name  string
		steps []Step
	}{{"fast", found.Fast}, {"full", found.Full}} {
		comment := ""
		if len(gate.steps) == 0 {
			comment, gate.steps = "#", []Step{{Name: "test", Run: []string{"make", "test"}}}
		}
		e.header(comment+"[gate."+gate.name+"]", "")
		e.steps(gate.steps, comment)
		e.table(t, nil, map[string]string{"groups": "[]"}, "steps", "skip")
	}
	skip := fieldNamed(t, "skip")
	e.header("#[gate.merge]", "what a prepared merge must pass before it is pushed; without it, the full gate")
	e.setting("#skip = true", skip.doc)
}

func (e *example) steps(steps []Step, comment string) {
	e.line(comment + "steps = [")
	for _, s := range steps {
		timeout := ""
		if s.Timeout > 0 {
			timeout = ", timeout = " + tomlText(formatDuration(s.Timeout))
		}
		e.line(fmt.Sprintf("%s  { name = %s, run = %s%s },", comment, tomlText(s.Name), tomlList(s.Run), timeout))
	}
	e.line(comment + "]")
}

// services are the tables that nothing is known about before someone names them.
func (e *example) services() {
	root := reflect.TypeFor[Config]()
	capability, server, notifier := fieldNamed(root, "capability"), fieldNamed(root, "mcp"), fieldNamed(root, "notify")
	e.header("#[mcp.linear]", server.doc)
	e.choices(server.typ.Elem(), "url", "smithery", "bearer_env")
	e.table(server.typ.Elem(), nil, nil, "url", "smithery", "bearer_env")
	e.header("#[capability.tracker]", capability.doc+", such as the one above")
	e.table(capability.typ.Elem(), nil, nil)
	e.header("#[notify.slack]", notifier.doc)
	e.choices(notifier.typ.Elem(), "command", "secret_env")
	e.table(notifier.typ.Elem(), nil, nil, "command", "secret_env")
}

// choices are settings that cannot stand beside the others of a sample.
func (e *example) choices(t reflect.Type, names ...string) {
	for _, name := range names {
		f := fieldNamed(t, name)
		e.setting("#   "+name+" = "+f.example, f.doc)
	}
}
