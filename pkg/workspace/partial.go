package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/backburner-cli/backburner/pkg/git"
)

// complete writes the files that are not there because an agent has git look at a part of them only (a sparse checkout): it did not delete those.
func (s *space) complete(ctx context.Context, c *clone) error {
	files := c.files()
	if !files.has("info/sparse-checkout") || !files.has("index") {
		return nil
	}
	if err := c.lend(s.home.pool); err != nil {
		return fmt.Errorf("read the workspace's objects: %w", err)
	}
	// Which files those are is in the agent's index; what is in them in backburner's.
	left, err := s.tree.Borrowing(c.objects()).WithIndex(path.Join(s.dir, ".git/index")).LeftOut(ctx)
	if err != nil {
		return fmt.Errorf("which files its sparse checkout leaves out: %w", err)
	}
	if err := s.tree.CheckOut(ctx, left); err != nil {
		return fmt.Errorf("write the files that its sparse checkout left out: %w", err)
	}
	return c.root.Remove(".git/info/sparse-checkout") // they are there from now on
}

// submodules lists the folders of submodules that an agent filled. Their repositories are within the workspace's own.
func (s *space) submodules(ctx context.Context, c *clone) ([]string, error) {
	if !c.files().has("modules") {
		return nil, nil
	}
	links, err := s.tree.Submodules(ctx)
	var unreadable *git.Error
	if err != nil && !errors.As(err, &unreadable) {
		return nil, err
	}
	var filled []string
	for _, link := range links {
		if _, err := c.root.Lstat(path.Join(link, ".git")); err == nil {
			filled = append(filled, link)
		}
	}
	return filled, nil
}
