package workspace

import (
	"io/fs"
	"syscall"
)

// changeTime is when a file's content, name or rights last changed, in nanoseconds. Nobody can set it.
func changeTime(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ctim.Nano()
	}
	return info.ModTime().UnixNano()
}
