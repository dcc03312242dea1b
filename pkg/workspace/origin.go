package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
)

// forwardLimit ends a push to where nobody answers.
const forwardLimit = 2 * time.Minute

// Forward pushes a branch that was published in a repository on this machine on to that repository's own origin, with an explicit lease: nothing
// there is overwritten that is not part of it. The status is "" when there is no origin. That the origin cannot be reached is a status, not an
// error.
func (m *Manager) Forward(ctx context.Context, repo Repository, branch, sha string) (Published, error) {
	if err := m.open(); err != nil {
		return Published{}, err
	}
	if err := git.CheckBranch(branch); err != nil {
		return Published{}, err
	}
	url, err := m.origin(ctx, repo.Path)
	if url == "" || err != nil {
		return Published{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, forwardLimit)
	defer cancel()
	result, err := m.forward(ctx, m.home(repo), url, branch, sha)
	if err != nil {
		return Published{Status: PublishFailed, Detail: err.Error()}, nil
	}
	return result, nil
}

// origin is where git pushes from a repository on this machine; "" when it has no origin. It is asked for once.
func (m *Manager) origin(ctx context.Context, path string) (string, error) {
	m.mu.Lock()
	url, known := m.origins[path]
	m.mu.Unlock()
	if known {
		return url, nil
	}
	dir, _, err := git.Locate(path)
	if err != nil {
		return "", err
	}
	url, err = m.git.Foreign(dir).PushURL(ctx, "origin")
	if err != nil {
		return "", err
	}
	if url != "" && !strings.Contains(url, ":") && !filepath.IsAbs(url) { // a path, which git takes from the repository
		url = filepath.Join(path, url)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.origins[path] = url
	return url, nil
}

func (m *Manager) forward(ctx context.Context, h home, url, branch, sha string) (Published, error) {
	store := m.store(h)
	refs, err := store.RemoteRefs(ctx, url, git.Heads+branch)
	if err != nil {
		return Published{}, err
	}
	found := refs[git.Heads+branch]
	old := git.ZeroID(sha)
	if found != "" {
		known, err := store.HasCommit(ctx, found)
		if err != nil {
			return Published{}, err
		}
		part := false
		if known {
			part, err = store.IsAncestor(ctx, found, sha)
			if err != nil {
				return Published{}, err
			}
		}
		if !part {
			return Published{Status: PublishLeaseFailed, Found: found, Detail: fmt.Sprintf("origin has commits on %s that are not here: fetch and look at them", branch)}, nil
		}
		old = found
	}
	outcome, said, err := store.Push(ctx, url, git.Heads+branch, sha, old)
	if err != nil {
		return Published{}, err
	}
	switch outcome {
	case git.Pushed:
		return Published{Status: PublishPushed, Found: sha}, nil
	case git.AlreadyThat:
		return Published{Status: PublishAlready, Found: sha}, nil
	}
	return Published{Status: PublishFailed, Found: found, Detail: "origin refused it: " + said}, nil
}
