package export

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// item is an entry of an archive made for a test.
type item struct {
	name, text string
	kind       byte
	link       string
}

// pack makes a file of a manifest and entries, as Write lays them out.
func pack(t *testing.T, m manifest, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range append([]item{{name: manifestName, text: string(text)}}, items...) {
		if i.kind == 0 {
			i.kind = tar.TypeReg
		}
		h := &tar.Header{Name: i.name, Typeflag: i.kind, Linkname: i.link, Size: int64(len(i.text)), Mode: 0o6755}
		if err := a.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte(i.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func saying(files int, bytes int64) manifest {
	return manifest{Format: format, Schema: 1, Files: files, Bytes: bytes, Repositories: []repository{{ID: "shop", Bundle: "stores/shop.bundle"}}}
}

var meta = item{name: "state/meta.json", text: `{"schema": 1}`}

// Names in an archive are a stranger's: only what a state has is written, and only below the folder.
func TestExtractRefuses(t *testing.T) {
	t.Parallel()
	newer := saying(1, 13)
	newer.Format = format + 1
	later := saying(1, 13)
	later.Schema = 1000
	odd := saying(1, 13)
	odd.Repositories[0].ID = "../x"
	huge := saying(1, maxBytes+1)
	tests := map[string]struct {
		m     manifest
		items []item
		want  string
	}{
		"parent":          {saying(1, 1), []item{{name: "state/../../evil", text: "x"}}, "nothing that a state has"},
		"parent inside":   {saying(1, 1), []item{{name: "state/workstreams/../../evil", text: "x"}}, "nothing that a state has"},
		"absolute":        {saying(1, 1), []item{{name: "/etc/evil", text: "x"}}, "nothing that a state has"},
		"elsewhere":       {saying(1, 1), []item{{name: "evil", text: "x"}}, "nothing that a state has"},
		"not of a state":  {saying(1, 1), []item{{name: "state/evil", text: "x"}}, "nothing that a state has"},
		"lease":           {saying(1, 1), []item{{name: "state/lease.json", text: "x"}}, "nothing that a state has"},
		"temporary":       {saying(1, 1), []item{{name: "state/workstreams/.x.json.tmp-1", text: "x"}}, "nothing that a state has"},
		"other bundle":    {saying(1, 1), []item{{name: "stores/other.bundle", text: "x"}}, "nothing that a state has"},
		"symbolic link":   {saying(1, 0), []item{{name: "state/meta.json", kind: tar.TypeSymlink, link: "/etc/passwd"}}, "not a file"},
		"hard link":       {saying(1, 0), []item{{name: "state/meta.json", kind: tar.TypeLink, link: "../x"}}, "not a file"},
		"device":          {saying(1, 0), []item{{name: "state/meta.json", kind: tar.TypeChar}}, "not a file"},
		"folder":          {saying(1, 0), []item{{name: "state/workstreams/", kind: tar.TypeDir}}, "not a file"},
		"twice":           {saying(2, 26), []item{meta, meta}, "file exists"},
		"file as folder":  {saying(2, 14), []item{meta, {name: "state/meta.json/x", text: "x"}}, "file exists"},
		"larger":          {saying(1, 5), []item{meta}, "larger than its manifest says"},
		"a file missing":  {saying(2, 13), []item{meta}, "not whole: 1 of 2 files"},
		"bytes missing":   {saying(1, 20), []item{meta}, "not whole"},
		"newer format":    {newer, []item{meta}, "newer backburner"},
		"newer schema":    {later, []item{meta}, "newer backburner"},
		"repository id":   {odd, []item{meta}, "repository"},
		"absurd manifest": {huge, []item{meta}, "makes no sense"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			around := t.TempDir()
			dir := filepath.Join(around, "draft")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			_, err := extract(context.Background(), bytes.NewReader(pack(t, test.m, test.items...)), dir)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if entries, err := os.ReadDir(around); err != nil || len(entries) != 1 {
				t.Errorf("beside the folder: %v, %v", entries, err)
			}
		})
	}
}

// Wherever a file is cut, it is not taken for whole.
func TestExtractCut(t *testing.T) {
	t.Parallel()
	whole := pack(t, saying(2, 13+9000), meta, item{name: "state/workstreams/a.json", text: strings.Repeat("abc", 3000)})
	if _, err := extract(context.Background(), bytes.NewReader(whole), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := extract(context.Background(), bytes.NewReader(whole[:n]), t.TempDir()); err == nil {
			t.Errorf("cut at byte %d of %d it was taken", n, len(whole))
		}
	}
	if _, err := extract(context.Background(), bytes.NewReader(append(bytes.Clone(whole), whole...)), t.TempDir()); err == nil {
		t.Error("two files in one were taken")
	}
}

// Files are nobody's programs, whatever the archive says.
func TestExtractModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := extract(context.Background(), bytes.NewReader(pack(t, saying(1, 13), meta)), dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "state", "meta.json"))
	if err != nil || info.Mode().Perm()&0o111 != 0 || info.Mode()&os.ModeSetuid != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte("state/meta.json"), []byte("{}"))
	f.Add([]byte("../x"), []byte("x"))
	f.Fuzz(func(t *testing.T, name, text []byte) {
		if len(name) == 0 || len(name) > 90 || bytes.ContainsAny(name, "\x00") {
			return
		}
		around := t.TempDir()
		dir := filepath.Join(around, "a", "b")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		a := tar.NewWriter(z)
		m := fmt.Sprintf(`{"format": 1, "schema": 1, "files": 1, "bytes": %d}`, len(text))
		for _, i := range []item{{name: manifestName, text: m}, {name: string(name), text: string(text)}} {
			if a.WriteHeader(&tar.Header{Name: i.name, Typeflag: tar.TypeReg, Size: int64(len(i.text))}) != nil {
				return
			}
			if _, err := a.Write([]byte(i.text)); err != nil {
				return
			}
		}
		if a.Close() != nil || z.Close() != nil {
			return
		}
		_, _ = extract(context.Background(), &b, dir)
		for _, at := range []string{around, filepath.Join(around, "a")} {
			if entries, err := os.ReadDir(at); err != nil || len(entries) != 1 {
				t.Errorf("%q left its folder: %v", name, entries)
			}
		}
	})
}
