package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/backburner-cli/backburner/pkg/work"
)

// WriteFile writes what a tick did into a file: JSON when its name ends in
// .json, a page with the board when it ends in .md, else the text for people.
// Unlike on the screen, nothing happened is said too: whoever asked for a file
// finds one.
func WriteFile(path string, t work.Tick, v View) error {
	var b bytes.Buffer
	var err error
	switch filepath.Ext(path) {
	case ".json":
		err = TickJSON(&b, t)
	case ".md":
		b.WriteString(Markdown(t, v))
	default:
		b.WriteString(tickText(t, Style{}))
	}
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
