package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// End ends whatever steps of a dead tick's gate still run; execution is the
// folder of the execution. What they came to does not count: a gate is run again
// as a whole. A folder that is not there has none.
func End(ctx context.Context, execution string) error {
	entries, err := os.ReadDir(execution)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("end gate: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if _, err := proc.End(ctx, filepath.Join(execution, entry.Name())); err != nil {
			errs = append(errs, fmt.Errorf("end gate: %w", err))
		}
	}
	return errors.Join(errs...)
}

// End is [End], for callers that hold a runner.
func (r *Runner) End(ctx context.Context, execution string) error { return End(ctx, execution) }
