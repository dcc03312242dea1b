//go:build !linux

package workspace

import "io/fs"

// changeTime is when a file's content last changed, in nanoseconds: what every system can tell.
func changeTime(info fs.FileInfo) int64 { return info.ModTime().UnixNano() }
