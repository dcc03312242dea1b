package github

import (
	"context"
	"strings"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// lookAtOpen sees where the threads and pull requests of open work stand.
func (h *Hub) lookAtOpen(ctx context.Context, all []*one, moved map[*one][]string) error {
	var nodes []string
	for _, r := range all {
		if r.news.Err != nil {
			continue // what cannot be seen is not gone
		}
		for _, o := range r.ask.Open {
			nodes = append(nodes, o.Thread.Node)
			if p := o.Thread.Pull; p != nil && p.Node != o.Thread.Node {
				nodes = append(nodes, p.Node)
			}
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	standing, err := h.client.Open(ctx, nodes)
	if err != nil {
		return err
	}
	at := make(map[string]Open, len(standing))
	for _, s := range standing {
		at[s.Node] = s
	}
	for _, r := range all {
		if r.news.Err != nil {
			continue
		}
		for _, o := range r.ask.Open {
			if r.hidden(o, at) {
				break
			}
			r.sight(o, at)
			r.nameRed(ctx, o)
		}
		moved[r] = r.talked(at)
	}
	return nil
}

// hidden reports whether the thread of open work, or its pull request, may not be
// looked at today.
func (r *one) hidden(o forge.Open, at map[string]Open) bool {
	for _, node := range []string{o.Thread.Node, pullNode(o)} {
		if e := at[node].Err; e != nil {
			r.news.Err = e
			return true
		}
	}
	return false
}

// sight says where one open workstream stands.
func (r *one) sight(o forge.Open, at map[string]Open) {
	thread := at[o.Thread.Node]
	seen := work.Sighting{Gone: thread.Gone, State: strings.ToLower(string(thread.State))}
	if o.Thread.Pull != nil {
		pull := at[o.Thread.Pull.Node]
		now := *o.Thread.Pull
		now.State, now.Draft, now.By = strings.ToLower(string(pull.State)), false, ""
		if pull.Gone {
			now.State = work.StateClosed
		}
		if p := pull.Pull; p != nil {
			now.Draft, now.Head, now.Landed, now.Decision, now.Checks = p.Draft, p.HeadOID, p.MergeOID, strings.ToLower(p.Decision), checks[p.Checks]
		}
		seen.Pull = &now
	}
	if o.Kind == work.KindPullRequest {
		seen.State = ""
	}
	r.news.Sightings[o.Workstream] = seen
}

// nameRed says which checks of the work's pull request are red. That it cannot be
// asked is no trouble: they are red all the same.
func (r *one) nameRed(ctx context.Context, o forge.Open) {
	now := r.news.Sightings[o.Workstream].Pull
	if now != nil && now.Checks != "failure" {
		now.Failing = ""
	}
	if now == nil || now.Checks != "failure" || now.Checks == o.Thread.Pull.Checks && now.Head == o.Thread.Pull.Head {
		return
	}
	if found, err := r.h.client.Checks(ctx, r.m.Slug, now.Head, statusContext); err == nil {
		now.Failing = strings.Join(found.Red, ", ")
	}
}

var checks = map[string]string{"SUCCESS": "success", "FAILURE": "failure", "ERROR": "failure", "PENDING": "pending", "EXPECTED": "pending"}

// talked are the threads in which something was said, edited or deleted since the
// last time. That does not always move them.
func (r *one) talked(at map[string]Open) (nodes []string) {
	said := make(map[string]string)
	for _, o := range r.ask.Open {
		for _, node := range []string{o.Thread.Node, pullNode(o)} {
			s, ok := at[node]
			if !ok || s.Gone {
				continue
			}
			if said[node] = s.Said; s.Said != r.m.Talk[node] {
				nodes = append(nodes, node)
			}
		}
	}
	r.m.Talk = said
	return nodes
}

func pullNode(o forge.Open) string {
	if o.Thread.Pull == nil {
		return ""
	}
	return o.Thread.Pull.Node
}
