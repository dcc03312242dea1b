package workspace

import (
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"
	"time"
)

// firstLook is how long a call may take before somebody looks whether git is waiting at a pipe; each further look comes three times later.
const firstLook = 2 * time.Second

// watchPipes looks after git in a working tree until the returned function is called. git opens files of some names wherever it finds them,
// and at a pipe of such a name it would wait for ever. A walk over the files for each call would be dear, so it waits until a call takes long.
func watchPipes(dir string) (stop func()) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for delay := firstLook; ; delay *= 3 {
			timer := time.NewTimer(delay)
			select {
			case <-done:
				timer.Stop()
				return
			case <-timer.C:
				removePipes(dir)
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
	}
}

// removePipes removes pipes that git would read, after letting go whoever waits at them.
func removePipes(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // there is nothing to wait at
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeNamedPipe == 0 {
			return nil // what cannot be read now is looked at again next time
		}
		switch path.Base(name) {
		case ".gitignore", ".gitattributes", ".gitmodules", ".mailmap":
			// A reader that waits sees the end of the file when a writer comes and goes.
			if pipe, err := root.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				pipe.Close()
			}
			_ = root.Remove(name)
		}
		return nil
	})
}
