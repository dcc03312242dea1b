package pass

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// The reasons of workstreams that stopped because of their repository. They
// go on by themselves when it can be worked with again.
const (
	repositoryUnusable = "workspace:repository"
	baseApart          = "remote_local_divergence:base"
)

func stoppedByRepository(w *work.Workstream) bool {
	return w.Status == work.Blocked && w.Held == nil && (w.Reason == repositoryUnusable || w.Reason == baseApart)
}

// trouble is why no work can begin on a repository; "" when it can.
func (s *base) trouble(repo Repository) string {
	switch {
	case s.err != nil:
		return s.err.Error()
	case s.Ahead > 0 && s.Behind > 0:
		return fmt.Sprintf("%s and %s have gone apart (%d and %d commits of their own): bring them together",
			repo.Base, strings.TrimPrefix(s.Upstream, git.Remotes), s.Ahead, s.Behind)
	}
	return ""
}

// unusable keeps work from being begun on a repository as it is. What may pass
// by itself is tried again by the next tick; the rest is for a person.
func (r *refresh) unusable(w *work.Workstream, repo Repository, seen *base) Job {
	return Job{Name: "refresh " + w.ID, Workstream: w.ID, Begin: func(now time.Time) (Act, error) {
		why := seen.trouble(repo)
		switch {
		case seen.err == nil:
			return nil, stopWith(w, baseApart, why, "It goes on by itself then.", now)
		case passing(seen.err, repo) && w.Pending() != nil:
			wait(w, string(workspace.DeferredFetch), why, now)
			return nil, nil
		}
		return r.runs.refuse(w, repositoryUnusable, why), nil
	}}
}

// passing reports whether what git could not do may be possible in a while: a
// lock is let go, a network comes back. On this machine nothing else does.
func passing(err error, repo Repository) bool {
	var failed *git.Error
	if repo.Path != "" {
		return errors.Is(err, git.ErrLocked) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	}
	return errors.As(err, &failed)
}

// stillUnusable keeps the reason up to date.
func stillUnusable(w *work.Workstream, why string) []Job {
	if w.Detail == why {
		return nil
	}
	return []Job{decide("refresh "+w.ID, w.ID, func(time.Time) error {
		w.Detail = why
		return nil
	})}
}

// usable takes up a workstream whose repository was in the way.
func usable(w *work.Workstream) Job {
	return decide("go on with "+w.ID, w.ID, func(now time.Time) error {
		return w.Move(w.Resume(), work.Reason{Code: "recovered:repository", Detail: "its repository can be worked with again"}, now)
	})
}
