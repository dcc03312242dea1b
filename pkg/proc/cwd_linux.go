package proc

import (
	"os"
	"strconv"
	"strings"
)

// WorkingIn lists the processes called name whose working folder is dir, an absolute path without symbolic links, or below it. Those of
// other users, into which this one may not look, are left out. The error is errors.ErrUnsupported where the system does not tell.
func WorkingIn(dir, name string) ([]int, error) {
	table, err := processes()
	if err != nil {
		return nil, err
	}
	var found []int
	for _, p := range table {
		if p.name != name || p.zombie {
			continue
		}
		at, err := os.Readlink("/proc/" + strconv.Itoa(p.pid) + "/cwd")
		if err == nil && (at == dir || strings.HasPrefix(at, dir+"/")) {
			found = append(found, p.pid)
		}
	}
	return found, nil
}
