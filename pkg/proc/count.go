package proc

import (
	"maps"
	"path/filepath"
	"sync"
)

var started = struct {
	sync.Mutex
	byName map[string]int64
}{byName: map[string]int64{}}

// Count says how many processes of the program called name (the last element of its path) this process has started, by [Run] or by
// [Start]. It exists for benchmarks and tests that hold the program to its number of processes.
func Count(name string) int64 {
	started.Lock()
	defer started.Unlock()
	return started.byName[name]
}

// Counts is [Count] for every name seen.
func Counts() map[string]int64 {
	started.Lock()
	defer started.Unlock()
	return maps.Clone(started.byName)
}

func count(program string) {
	started.Lock()
	defer started.Unlock()
	started.byName[filepath.Base(program)]++
}
