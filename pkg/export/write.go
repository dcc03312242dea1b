package export

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// Source is what is exported.
type Source struct {
	State        *store.Store
	Trees        *workspace.Manager
	Repositories []workspace.Repository
	By           string // program and version
	Now          time.Time
}

// Written says what is in the file.
type Written struct {
	Files       int      `json:"files"`
	Bytes       int64    `json:"bytes"` // before compression
	Workstreams int      `json:"workstreams"`
	References  int      `json:"references"` // branches and saved work in the stores
	Saved       []string `json:"saved"`      // what lay uncommitted in workspaces, as salvage
	Notices     []string `json:"notices"`    // what is not in it, and what to look at
}

// KeptAs stands for a task where the salvage of an export is named.
const KeptAs = "export"

// Write writes a state and its work. scratch is a folder that is removed by the caller.
func Write(ctx context.Context, out io.Writer, from Source, scratch string) (Written, error) {
	done := Written{Saved: []string{}, Notices: []string{}}
	board, aside, err := from.State.Load(ctx)
	if err != nil {
		return done, err
	}
	for _, q := range aside {
		done.Notices = append(done.Notices, q.String())
	}
	done.Workstreams = len(board.Workstreams)
	from.keep(ctx, board, &done)
	m, entries, err := from.pack(ctx, scratch, &done)
	if err != nil {
		return done, err
	}
	files, err := from.State.Files()
	if err != nil {
		return done, err
	}
	for _, f := range files {
		entries = append(entries, entry{stateFolder + f.Name, filepath.Join(from.State.Dir(), filepath.FromSlash(f.Name)), f.Size})
	}
	for _, e := range entries {
		m.Files, m.Bytes = m.Files+1, m.Bytes+e.size
	}
	done.Files, done.Bytes = m.Files, m.Bytes
	return done, writeAll(ctx, out, m, entries)
}

// keep saves what lies in workspaces and in no commit, so that it is in the stores.
func (from Source) keep(ctx context.Context, board *work.Board, done *Written) {
	for _, w := range board.Workstreams {
		at := slices.IndexFunc(from.Repositories, func(r workspace.Repository) bool { return r.ID == w.Repository })
		if at < 0 {
			done.Notices = append(done.Notices, w.ID+": its repository "+w.Repository+" is not configured, so its work is not in here")
			continue
		}
		if w.Running() != nil || w.GateRun != "" {
			done.Notices = append(done.Notices, w.ID+": a tick died while something ran for it; run backburner tick and export again to have the result, too")
		}
		if w.Head == "" {
			continue
		}
		saved, err := from.Trees.Keep(ctx, from.Repositories[at], workspace.Workspace{ID: w.ID, Branch: w.Branch, Head: w.Head}, KeptAs)
		switch {
		case err != nil:
			done.Notices = append(done.Notices, w.ID+": what lies uncommitted in its workspace is not in here: "+err.Error())
		case saved.Ref != "":
			done.Saved = append(done.Saved, saved.Name())
		}
		for _, nested := range saved.Manifest.Nested {
			done.Notices = append(done.Notices, w.ID+": "+nested+" in its workspace is a repository of its own and not in here")
		}
	}
	slices.Sort(done.Saved)
	slices.Sort(done.Notices)
}

// entry is one file of the archive, and where it is read from.
type entry struct {
	name, path string
	size       int64
}

// pack makes a bundle of each store.
func (from Source) pack(ctx context.Context, scratch string, done *Written) (manifest, []entry, error) {
	m := manifest{Format: format, Schema: work.Schema, CreatedBy: from.By, CreatedAt: from.Now.UTC(), Repositories: []repository{}}
	var entries []entry
	for _, repo := range from.Repositories {
		packed, err := from.Trees.Pack(ctx, repo, scratch)
		if err != nil {
			return m, nil, err
		}
		r := repository{ID: repo.ID, Base: repo.Base, Without: packed.Without, Refs: packed.Refs}
		done.References += len(r.Refs)
		if packed.Bundle != "" {
			info, err := os.Stat(packed.Bundle)
			if err != nil {
				return m, nil, err
			}
			r.Bundle = storeFolder + filepath.Base(packed.Bundle)
			entries = append(entries, entry{r.Bundle, packed.Bundle, info.Size()})
		}
		m.Repositories = append(m.Repositories, r)
	}
	return m, entries, nil
}

func writeAll(ctx context.Context, out io.Writer, m manifest, entries []entry) error {
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	head := tar.Header{Name: manifestName, Mode: 0o644, Size: int64(len(text)), ModTime: m.CreatedAt, Typeflag: tar.TypeReg}
	if err := archive.WriteHeader(&head); err != nil {
		return err
	}
	if _, err := archive.Write(text); err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := writeEntry(archive, e, m.CreatedAt); err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

// writeEntry writes as much of a file as it had when it was listed. What an agent
// that outlived its tick adds meanwhile is left out.
func writeEntry(archive *tar.Writer, e entry, at time.Time) error {
	f, err := os.OpenFile(e.path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fs.ErrInvalid)
	}
	if err := archive.WriteHeader(&tar.Header{Name: e.name, Mode: 0o644, Size: e.size, ModTime: at, Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err = io.CopyN(archive, f, e.size)
	if errors.Is(err, io.EOF) {
		return errors.New("it became shorter meanwhile; export again")
	}
	return err
}
