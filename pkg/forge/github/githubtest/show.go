package githubtest

import (
	"fmt"
	"slices"
	"strings"
)

// Show is an issue or pull request as text, for tests to look at: what a person
// sees on its page, without ids and times.
func (r *Repository) Show(number int) string {
	defer r.server.lock()()
	r.server.world.observe()
	i := r.repo.issue(number)
	switch {
	case i == nil:
		return fmt.Sprintf("nothing %d\n", number)
	case i.gone:
		return fmt.Sprintf("deleted %d\n", number)
	}
	var b strings.Builder
	i.show(&b)
	return b.String()
}

func (i *issue) show(b *strings.Builder) {
	kind := "issue"
	if i.pull != nil {
		kind = "pull request"
	}
	line(b, "%s %d %s: %s", kind, i.number, i.words(), i.title)
	line(b, "by %s", login(i.author))
	if len(i.labels) > 0 {
		var names []string
		for _, l := range i.labels {
			names = append(names, l.name)
		}
		slices.Sort(names)
		line(b, "labels: %s", strings.Join(names, ", "))
	}
	if i.parent != nil {
		line(b, "part of: %d", i.parent.number)
	}
	showReactions(b, i.reactions)
	if i.pull != nil {
		i.pull.show(b)
	}
	indent(b, i.body)
	for n, c := range i.comments {
		line(b, "comment %d by %s%s", n+1, login(c.author), flags(map[string]bool{" edited": !c.lastEdited.IsZero(), " minimized": c.minimized}))
		showReactions(b, c.reactions)
		indent(b, c.body)
	}
	if i.pull != nil {
		i.pull.showReviews(b)
	}
}

func (i *issue) words() string {
	words := strings.ToLower(i.graphState())
	if i.reason != "" && !i.open() {
		words += " " + i.reason
	}
	if i.pull != nil && i.pull.draft {
		words += " draft"
	}
	return words
}

func (p *pull) show(b *strings.Builder) {
	head := p.head
	if p.cross() {
		head = p.headOwner() + ":" + head
	}
	line(b, "head: %s %s", head, p.headOID)
	line(b, "base: %s %s", p.base, p.baseOID)
	if p.merged() {
		line(b, "merged: %s by %s", p.mergeOID, login(p.mergedBy))
	}
	c := p.issue.repo.commits[p.headOID]
	if c == nil {
		return
	}
	for _, s := range c.current() {
		line(b, "status %s: %s %s", s.context, s.state, s.description)
	}
	for _, r := range c.latestRuns(false) {
		line(b, "check %s: %s %s", r.name, r.status, r.conclusion)
	}
}

func (p *pull) showReviews(b *strings.Builder) {
	n := 0
	for _, r := range p.reviews {
		line(b, "review %s by %s", strings.ToLower(r.state), login(r.author))
		indent(b, r.body)
		for _, m := range r.comments {
			n++
			line(b, "remark %d on %s:%d by %s%s", n, m.path, m.originalLine, login(m.author),
				flags(map[string]bool{" outdated": m.line == 0, " resolved": m.thread.resolved != nil}))
			showReactions(b, m.reactions)
			indent(b, m.body)
		}
	}
}

func showReactions(b *strings.Builder, list []*reaction) {
	for _, r := range list {
		line(b, "reaction %s by %s", r.content, login(r.user))
	}
}

func login(u *user) string {
	if u == nil || u.gone {
		return "ghost"
	}
	return u.login
}

// flags are the words that hold, in the order of the alphabet.
func flags(words map[string]bool) string {
	all := ""
	for _, word := range sortedKeys(words) {
		if words[word] {
			all += word
		}
	}
	return all
}

func line(b *strings.Builder, format string, args ...any) {
	b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// indent sets text off from the lines about it.
func indent(b *strings.Builder, text string) {
	for l := range strings.Lines(text) {
		line(b, "    %s", strings.TrimSuffix(l, "\n"))
	}
}
