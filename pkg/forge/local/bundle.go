package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// bundleFolder is the review bundle in the folder of a workstream;
// bundleScratch begins the names of those being made or thrown away.
const (
	bundleFolder  = "review"
	bundleScratch = ".review."
)

// WriteBundle puts the bundle into <folder>/review/ as diff.patch, log.txt,
// plan.json and plan.md (when there is a plan), gates.json and summary.md. The
// folder is replaced as a whole: a reader finds the old bundle or the new one,
// and what it returned nil for survives a power loss. One writer at a time.
func WriteBundle(folder string, b forge.Bundle) error {
	if err := writeBundle(folder, b); err != nil {
		return fmt.Errorf("review bundle: %w", err)
	}
	return nil
}

func writeBundle(folder string, b forge.Bundle) error {
	files, err := bundleFiles(b)
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := sweepScratch(folder); err != nil { // of a tick that was killed
		return err
	}
	made, err := os.MkdirTemp(folder, bundleScratch)
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	if err := os.Chmod(made, 0o755); err != nil {
		return err
	}
	if err := atomicfile.WriteAll(made, files, 0o644); err != nil {
		return err
	}
	return replaceFolder(made, filepath.Join(folder, bundleFolder))
}

func bundleFiles(b forge.Bundle) (map[string][]byte, error) {
	gates := b.Gates
	if gates == nil {
		gates = []work.Evidence{}
	}
	gateJSON, err := json.MarshalIndent(gates, "", "  ")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		"diff.patch": b.Diff, "log.txt": b.Log,
		"gates.json": append(gateJSON, '\n'), "summary.md": []byte(renderSummary(b)),
	}
	if b.Plan != nil {
		planJSON, err := json.MarshalIndent(b.Plan, "", "  ")
		if err != nil {
			return nil, err
		}
		files["plan.json"] = append(planJSON, '\n')
		files["plan.md"] = []byte(forge.RenderPlan(b.Plan, b.Revision))
	}
	return files, nil
}

func sweepScratch(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), bundleScratch) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, entry.Name())))
		}
	}
	return err
}

// replaceFolder puts the folder from in the place of to. Where the system can
// exchange the two in one step, there is no moment without a bundle.
func replaceFolder(from, to string) error {
	if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
		return atomicfile.Rename(from, to)
	}
	if err := exchange(from, to); err == nil {
		return syncFolder(filepath.Dir(to))
	}
	return replaceByRenames(from, to)
}

// replaceByRenames is for systems that cannot exchange names: for a moment there
// is no bundle, and a crash in it leaves none until the next one is written.
func replaceByRenames(from, to string) error {
	old := from + ".old"
	if err := os.Rename(to, old); err != nil {
		return err
	}
	if err := atomicfile.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(old, to))
	}
	return os.RemoveAll(old)
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// renderSummary is the page to read first.
func renderSummary(b forge.Bundle) string {
	var s strings.Builder
	fmt.Fprintf(&s, "# %s\n\n", work.Printable(forge.Defuse(b.Title)))
	for _, row := range []struct{ name, value string }{
		{"Workstream", b.Workstream}, {"Branch", b.Branch}, {"Base", b.Base}, {"Head", b.Head},
	} {
		if row.value != "" {
			fmt.Fprintf(&s, "- %s: `%s`\n", row.name, strings.ReplaceAll(work.Printable(row.value), "`", "'"))
		}
	}
	if text := strings.TrimSpace(clean(b.Summary)); text != "" {
		fmt.Fprintf(&s, "\n## What was done\n\n%s\n", text)
	}
	s.WriteString("\n## Gates\n\n")
	if len(b.Gates) == 0 {
		s.WriteString("None has run.\n")
	}
	for _, e := range b.Gates {
		fmt.Fprintf(&s, "- %s\n", gateLine(e))
	}
	if b.Next != "" {
		fmt.Fprintf(&s, "\n## Next\n\n    %s\n", work.Printable(b.Next))
	}
	s.WriteString("\nThe difference is in `diff.patch`, the commits are in `log.txt`, the gates in `gates.json`")
	if b.Plan != nil {
		s.WriteString(", the plan in `plan.md`")
	}
	s.WriteString(".\n")
	return s.String()
}

func gateLine(e work.Evidence) string {
	line := "**" + e.Gate + "** is "
	if e.Green {
		line += "green"
	} else {
		line += "red"
		if why := work.Printable(forge.Defuse(e.Detail)); why != "" {
			line += " (" + why + ")"
		}
	}
	line += " on `" + e.Commit + "`"
	if !e.At.IsZero() {
		line += ", " + e.At.UTC().Format(time.RFC3339)
	}
	return line + ", execution `" + e.Execution + "`"
}
