package export

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/backburner-cli/backburner/pkg/store"
)

// extract reads the file into the folder dir, which is empty, and returns the manifest.
func extract(ctx context.Context, in io.Reader, dir string) (manifest, error) {
	raw := bufio.NewReader(in)
	compressed, err := gzip.NewReader(raw)
	if err != nil {
		return manifest{}, errors.New("it is not a file that backburner state export wrote")
	}
	compressed.Multistream(false)
	archive := tar.NewReader(compressed)
	m, err := extractManifest(archive)
	if err != nil {
		return m, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return m, err
	}
	defer root.Close()
	x := extraction{root: root, left: m.Bytes, bundles: make(map[string]bool)}
	for _, r := range m.Repositories {
		x.bundles[r.Bundle] = true
	}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = x.file(header, archive)
		}
		if err != nil {
			return m, damaged(err)
		}
	}
	if x.files != m.Files || x.left != 0 {
		return m, fmt.Errorf("it is not whole: %d of %d files", x.files, m.Files)
	}
	return m, ended(compressed, raw)
}

// ended reads to the end, where the checksum is, and fails when there is more.
func ended(compressed io.Reader, raw *bufio.Reader) error {
	const padding = 1 << 20 // of a tar archive, at most
	n, err := io.Copy(io.Discard, io.LimitReader(compressed, padding))
	if err != nil {
		return damaged(err)
	}
	if _, err := raw.ReadByte(); n == padding || !errors.Is(err, io.EOF) {
		return errors.New("there is more behind its end: copy it again")
	}
	return nil
}

// damaged puts what the readers say of an end that comes too early into words.
func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, tar.ErrHeader) {
		return fmt.Errorf("it is not whole (%w): copy it again", err)
	}
	return err
}

func extractManifest(archive *tar.Reader) (manifest, error) {
	header, err := archive.Next()
	if err != nil || header.Name != manifestName || header.Typeflag != tar.TypeReg || header.Size > maxManifest {
		return manifest{}, errors.New("it is not a file that backburner state export wrote")
	}
	text, err := io.ReadAll(archive)
	if err != nil {
		return manifest{}, damaged(err)
	}
	return readManifest(text)
}

// extraction writes the entries of an archive below a folder.
type extraction struct {
	root    *os.Root
	bundles map[string]bool // names that the manifest has
	files   int
	left    int64 // bytes that may still come
}

func (x *extraction) file(header *tar.Header, from io.Reader) error {
	name := header.Name
	inState, isState := strings.CutPrefix(name, stateFolder)
	switch {
	case header.Typeflag != tar.TypeReg:
		return fmt.Errorf("%.200q in it is not a file", name)
	case isState && store.Carries(inState), x.bundles[name] && strings.HasPrefix(name, storeFolder) && fs.ValidPath(name):
	default:
		return fmt.Errorf("%.200q in it is nothing that a state has", name)
	}
	if header.Size > x.left {
		return errors.New("it is larger than its manifest says")
	}
	x.files++
	x.left -= header.Size
	if err := x.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	// A name that comes twice is refused.
	f, err := x.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
