package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with the configuration.
type Problem struct {
	File    string // file, or the environment variable, or "flag"
	Line    int    // 1-based; 0 where there are no lines
	Key     string // such as repository[0].slug; empty when it concerns the whole file
	Message string // what is wrong; what to do
}

// String is "file:line: key: message", without the parts that are not known.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Errors is everything that is wrong with a configuration, by file and line.
type Errors struct {
	Problems []Problem
}

// Error has one line per problem.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// problems collects.
type problems struct{ list []Problem }

func (ps *problems) add(at Origin, key, message string) {
	ps.list = append(ps.list, Problem{File: at.File, Line: at.Line, Key: key, Message: message})
}

// err is nil when there is no problem.
func (ps *problems) err() error {
	if len(ps.list) == 0 {
		return nil
	}
	slices.SortStableFunc(ps.list, func(a, b Problem) int {
		// The file first: it is where most of the work is.
		return cmp.Or(cmp.Compare(kindOfPlace(a), kindOfPlace(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return &Errors{Problems: ps.list}
}

func kindOfPlace(p Problem) int {
	if p.Line > 0 {
		return 0
	}
	return 1
}
