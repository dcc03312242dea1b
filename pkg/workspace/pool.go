package workspace

import (
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// poolStamp is pool.json, kept beside the store where no agent is pointed to.
type poolStamp struct {
	// Changed is the latest change time (ctime, in nanoseconds) of the pool's files when they were last made. A file that changed after that was
	// changed by somebody else: a ctime cannot be set back.
	Changed int64 `json:"changed"`
}

// refreshPool makes the pool the same as the store's objects: copies what is new, copies again what somebody changed, and removes
// everything else. It starts no process.
func (m *Manager) refreshPool(h home) error {
	defer m.lock("pool " + h.dir)()
	if err := realFolders(m.root, h.pool); err != nil {
		return fmt.Errorf("pool of objects: %w", err)
	}
	pool, err := os.OpenRoot(h.pool)
	if err != nil {
		return fmt.Errorf("pool of objects: %w", err)
	}
	defer pool.Close()
	if err := h.copyObjects(pool); err != nil {
		return fmt.Errorf("pool of objects: %w", err)
	}
	return nil
}

// realFolders makes the folders from root to path, in place of anything there that is not one.
func realFolders(root, path string) error {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	at := root
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			if err := os.Remove(at); err != nil {
				return err
			}
		}
		if err := os.Mkdir(at, 0o777); err != nil {
			return err
		}
	}
	return nil
}

func (h home) copyObjects(pool *os.Root) error {
	source := filepath.Join(h.storeDir(), "objects")
	names, _, err := objectFiles(source)
	if err != nil {
		return err
	}
	var stamp poolStamp
	stampFile := h.stampFile()
	if content, err := atomicfile.Read(stampFile, 1<<10); err == nil {
		_ = json.Unmarshal(content, &stamp) // unreadable: every file is copied again
	}
	latest := stamp.Changed
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(source, name))
		if err != nil {
			return err
		}
		have, err := pool.Lstat(name)
		same := err == nil && have.Mode().IsRegular() && changeTime(have) <= stamp.Changed
		if same && (have.Size() == info.Size() || !sound(filepath.Join(source, name))) {
			continue // or the pool has the only good one
		}
		if err := copyInto(pool, filepath.Join(source, name), name); err != nil {
			return err
		}
		if have, err = pool.Lstat(name); err != nil {
			return err
		}
		latest = max(latest, changeTime(have))
	}
	if err := removeOthers(pool, names); err != nil || latest == stamp.Changed {
		return err
	}
	content, err := json.Marshal(poolStamp{latest})
	if err != nil {
		return err
	}
	return atomicfile.WriteRelaxed(stampFile, append(content, '\n'), 0o666)
}

// objectFiles lists the files with objects below a folder of objects, relative to it. A pack comes before its index, without which
// git does not see it. Parts are files that a git process has not finished, or never will.
func objectFiles(objects string) (names, parts []string, err error) {
	folders, err := os.ReadDir(objects)
	if err != nil {
		return nil, nil, err
	}
	var indexes []string
	for _, folder := range folders {
		if folder.Name() == "info" || !folder.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(objects, folder.Name()))
		if err != nil {
			return nil, nil, err
		}
		for _, file := range files {
			name := path.Join(folder.Name(), file.Name())
			switch {
			case !file.Type().IsRegular(), strings.HasPrefix(file.Name(), "."):
			case strings.HasPrefix(file.Name(), "tmp_"):
				parts = append(parts, name)
			case folder.Name() != "pack", strings.HasSuffix(name, ".pack"):
				names = append(names, name)
			case strings.HasSuffix(name, ".idx"):
				indexes = append(indexes, name)
			}
		}
	}
	return append(names, indexes...), parts, nil
}

// sound says whether a file of objects is what its name says: of a loose object that it has this id, of a pack that it ends in this checksum.
// An index is made of its pack, and can be made again.
func sound(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	dir, name := filepath.Base(filepath.Dir(file)), filepath.Base(file)
	id, packed := strings.CutPrefix(strings.TrimSuffix(name, ".pack"), "pack-")
	switch {
	case packed && strings.HasSuffix(name, ".pack"):
		sum := make([]byte, len(id)/2)
		info, err := f.Stat()
		if err == nil {
			_, err = f.ReadAt(sum, info.Size()-int64(len(sum)))
		}
		return err == nil && hex.EncodeToString(sum) == id
	case packed:
		return true
	}
	hash := sha1.New()
	if len(dir+name) == 2*sha256.Size {
		hash = sha256.New()
	}
	content, err := zlib.NewReader(f)
	if err == nil {
		_, err = io.Copy(hash, content)
	}
	return err == nil && hex.EncodeToString(hash.Sum(nil)) == dir+name
}

// copyInto copies a file (by reference, where the file system can) to name below pool.
func copyInto(pool *os.Root, from, name string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	dir := path.Dir(name)
	if info, err := pool.Lstat(dir); err != nil || !info.IsDir() {
		if err == nil {
			err = pool.Remove(dir)
		}
		if err = errors.Join(ignoreMissing(err), pool.Mkdir(dir, 0o777)); err != nil {
			return err
		}
	}
	tmp := path.Join(dir, "tmp_copy")
	if err := pool.RemoveAll(tmp); err != nil {
		return err
	}
	target, err := pool.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	if info, err := pool.Lstat(name); err == nil && info.IsDir() {
		if err := pool.RemoveAll(name); err != nil {
			return err
		}
	}
	return pool.Rename(tmp, name)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeOthers removes from the pool what is not called names: objects that the store has packed since, and what somebody put there.
func removeOthers(pool *os.Root, names []string) error {
	keep := map[string]bool{".": true}
	for _, name := range names {
		keep[name], keep[path.Dir(name)] = true, true
	}
	var others []string
	err := fs.WalkDir(pool.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || keep[name] {
			return err
		}
		others = append(others, name)
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(others) // an index before its pack
	for _, name := range others {
		if err := pool.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}
