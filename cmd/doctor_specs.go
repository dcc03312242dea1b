package cmd

import (
	"context"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/forge/local"
	"github.com/backburner-cli/backburner/pkg/work"
)

// checkSpecs finds spec files that cannot be worked from: a tick tells of each only
// once.
func checkSpecs(ctx context.Context, cfg *config.Config) []finding {
	repos, err := repositories(cfg)
	if err != nil {
		return nil // told by the check of the repositories
	}
	var found []finding
	for _, repo := range repos {
		if repo.Path == "" {
			continue
		}
		_, problems, err := local.Specs(ctx, repo.Path, cfg.Forge.SpecsDir, nil)
		if err != nil {
			return nil // out of time
		}
		for _, p := range problems {
			found = append(found, finding{"specs", warn, work.Printable(p.Path) + " " + p.What, p.Next})
		}
	}
	return found
}
