package workspace

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/backburner-cli/backburner/pkg/git"
)

// Claim is something that somebody relies on to be in a store.
type Claim struct {
	What   string // for people
	Ref    string // full name of a reference; "" when only the commit counts
	Commit string // "" when any will do
}

// Fault is a claim that does not hold, or damage.
type Fault struct {
	Path   string // of the store, below the root
	Detail string
	Next   string // what to do
	Heals  bool   // the next tick puts it right
	Broken bool   // the store cannot be used
}

// Audit holds a repository's store against what others rely on, and looks whether it is whole. It changes nothing.
func (m *Manager) Audit(ctx context.Context, repo Repository, claims []Claim) ([]Fault, error) {
	const anew = "the next tick that has work there makes it anew, from the repository and from what the workspaces have"
	path := filepath.Join("stores", component(repo.ID), "git")
	if m.made() {
		if err := m.open(); err != nil {
			return nil, err
		}
	}
	h := m.home(repo)
	if !m.made() || !h.exists() {
		if len(claims) == 0 {
			return nil, nil
		}
		return []Fault{{Path: path, Detail: "the store of " + repo.Where() + " is missing, or is no git repository any more", Next: anew}}, nil
	}
	a := audit{store: m.store(h), path: path}
	err := a.store.Check(ctx)
	if err == nil {
		err = a.claims(ctx, claims)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		a.faults = append(a.faults, Fault{
			Path: path, Detail: err.Error(), Broken: true,
			Next: "move " + h.storeDir() + " away and run backburner tick: " + anew,
		})
	}
	return a.faults, nil
}

// audit is one look at a store.
type audit struct {
	store  git.Repo
	path   string
	faults []Fault
}

func (a *audit) claims(ctx context.Context, claims []Claim) error {
	var ids []string
	for _, c := range claims {
		if git.IsObjectID(c.Commit) {
			ids = append(ids, c.Commit)
		}
	}
	missing, err := a.store.MissingCommits(ctx, ids)
	if err != nil {
		return err
	}
	for _, c := range claims {
		if c.Commit != "" && (slices.Contains(missing, c.Commit) || !git.IsObjectID(c.Commit)) {
			a.faults = append(a.faults, Fault{
				Path: a.path, Detail: "commit " + short(c.Commit) + ", " + c.What + ", is not in it",
				Next: "run backburner tick, which takes it from the workspace if that has it",
			})
			continue
		}
		if fault, err := a.reference(c); err != nil {
			return err
		} else if fault.Path != "" {
			a.faults = append(a.faults, fault)
		}
	}
	return nil
}

// reference is the zero Fault when the reference is what it has to be.
func (a *audit) reference(c Claim) (Fault, error) {
	if c.Ref == "" {
		return Fault{}, nil
	}
	if err := git.CheckRef(c.Ref); err != nil {
		return Fault{Path: a.path, Detail: c.What + ": " + err.Error(), Next: "correct the file of its workstream"}, nil
	}
	have, err := a.store.ReadRef(c.Ref)
	switch {
	case err != nil:
		return Fault{}, err
	case have == "" && c.Commit != "":
		return Fault{Path: a.path, Detail: c.Ref + ", " + c.What + ", is missing", Next: "nothing; the next tick sets it again", Heals: true}, nil
	case have == "":
		return Fault{Path: a.path, Detail: c.Ref + ", " + c.What + ", is missing", Next: "a backup of the store may have it; else it is lost"}, nil
	case c.Commit != "" && have != c.Commit:
		return Fault{
			Path: a.path, Detail: c.Ref + ", " + c.What + ", is at " + short(have) + " and not at " + short(c.Commit),
			Next: "nothing; the next tick looks which it is", Heals: true,
		}, nil
	}
	return Fault{}, nil
}
