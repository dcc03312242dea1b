//go:build !linux

package atomicfile

func renameExclusive(from, to string) error { return linkExclusive(from, to) }
