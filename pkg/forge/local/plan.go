package local

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// WritePlan puts a plan into <folder>/plan.md, in place of an earlier one.
func WritePlan(folder, text string) error {
	err := atomicfile.MkdirAll(folder, 0o755)
	if err == nil {
		err = atomicfile.Write(filepath.Join(folder, "plan.md"), []byte(text), 0o644)
	}
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	return nil
}

// WritePlan is [WritePlan].
func (Forge) WritePlan(ctx context.Context, folder, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return WritePlan(folder, text)
}
