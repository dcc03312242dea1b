package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// maxMemory is the most bytes that are read of a memory.md, whatever the cap
// it was written with.
const maxMemory = 1 << 20

func (s *Store) memoryFile(id string) string { return filepath.Join(s.Folder(id), "memory.md") }

// Memory is what a workstream learned, "" when it has learned nothing yet.
func (s *Store) Memory(id string) (string, error) {
	data, err := atomicfile.Read(s.memoryFile(id), maxMemory)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// AppendMemory adds a text to what a workstream learned. Above limit bytes the
// oldest paragraphs go; a text that is there already is not added again, so
// that a repeat after a crash changes nothing.
func (s *Store) AppendMemory(id, text string, limit int) error {
	if err := s.appendMemory(id, text, limit); err != nil {
		return fmt.Errorf("remember for workstream %.100s: %w", id, err)
	}
	return nil
}

func (s *Store) appendMemory(id, text string, limit int) error {
	if err := checkID("workstream", id); err != nil {
		return err
	}
	old, err := s.Memory(id)
	if err != nil {
		return err
	}
	updated := remember(old, text, min(limit, maxMemory))
	if updated == old {
		return nil
	}
	return s.put(s.memoryFile(id), []byte(updated))
}

// remember is the memory old with text at its end, in at most limit bytes.
func remember(old, text string, limit int) string {
	added := paragraphs(text)
	if len(added) == 0 || limit < 8 || contains(paragraphs(old), added) {
		return old
	}
	kept := append(paragraphs(old), added...)
	size := 0
	for first, p := range slices.Backward(kept) {
		if size += len(p) + len("\n\n"); size-1 > limit { // the last one ends in a single newline
			kept = kept[first+1:]
			break
		}
	}
	if len(kept) == 0 {
		kept = []string{work.Clip(added[len(added)-1], limit-len("…\n"))}
	}
	return strings.Join(kept, "\n\n") + "\n"
}

// paragraphs cuts a text where there are blank lines.
func paragraphs(text string) []string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\r\n", "\n")
	var out []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.Trim(p, "\n"); strings.TrimSpace(p) != "" {
			out = append(out, p)
		}
	}
	return out
}

// contains reports whether part stands in all, in one piece.
func contains(all, part []string) bool {
	for i := 0; i+len(part) <= len(all); i++ {
		if slices.Equal(all[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
