package config

import "fmt"

// Kind is the kind of place a setting comes from, in order of precedence.
type Kind int

// The places, the weakest first.
const (
	FromDefault Kind = iota
	FromFile
	FromEnvironment
	FromFlag
)

// Origin is where a setting was given.
type Origin struct {
	Kind Kind
	File string // file as shown to people, name of the variable, or "flag"
	Line int    // 1-based; 0 except in a file
}

// String is for people: "default", "backburner.toml:7", "BACKBURNER_STATE_DIR", "flag".
func (o Origin) String() string {
	if o.Kind == FromDefault {
		return "default"
	}
	return o.where()
}

func (o Origin) where() string {
	if o.Line > 0 {
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return o.File
}
