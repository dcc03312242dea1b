package local

import (
	"context"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Forge is this package as one value, for callers that have several forges. A
// context that has ended keeps it from beginning; what has begun ends in
// milliseconds.
type Forge struct {
	SpecsDir string // folder of spec files in a repository, relative to its root
}

// Specs is [Specs] of the repository whose working folder is repoPath.
func (f Forge) Specs(ctx context.Context, repoPath string, known map[string]work.SpecFile) ([]forge.Spec, []forge.Problem, error) {
	return Specs(ctx, repoPath, f.SpecsDir, known)
}

// Tell is [Tell].
func (Forge) Tell(ctx context.Context, folder string, n work.Notice) error {
	if err := ctx.Err(); err != nil {
		return wrapThread(err)
	}
	return Tell(folder, n)
}

// Comment is [Comment].
func (Forge) Comment(ctx context.Context, folder string, e forge.Entry) error {
	if err := ctx.Err(); err != nil {
		return wrapThread(err)
	}
	return Comment(folder, e)
}

// Thread is [Thread].
func (Forge) Thread(folder string, maxBytes int) (string, error) { return Thread(folder, maxBytes) }

// WriteBundle is [WriteBundle].
func (Forge) WriteBundle(ctx context.Context, folder string, b forge.Bundle) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return WriteBundle(folder, b)
}
