// Package config turns backburner.toml, the environment and flags into one
// checked Config.
//
// It owns the names of all settings, their defaults, ranges and documentation:
// each is one struct field with its tags, and the command line's help, the list
// of keys, the JSON schema and the commented file that init writes are made from
// those fields, so that they cannot disagree.
//
// A setting comes from, in this order, a flag, the environment, the file, the
// default. The environment's name of a setting is BACKBURNER_ and its key in
// capitals with underscores for dots: tick.max_agents is
// BACKBURNER_TICK_MAX_AGENTS. Only keys with a fixed place have such a name, not
// those of a [[repository]] or of a named table such as [agent.claude]. Lists are
// separated by commas. BACKBURNER_CONFIG names the file itself.
//
// It is strict: whatever it does not understand is a Problem with file, line and
// key, and all problems are reported at once. It looks at nothing but the file,
// the environment it is given and the flags: whether a path exists, a branch is
// there or a program is installed is asked elsewhere. It must not import any other
// package of backburner.
package config
