package cmd

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What GitHub is asked for, at most: each number is what it takes now, and
// whoever needs more has to say so here.
const (
	hubLifeRequests, hubLifePoints = 26, 2 // from the label to the ready pull request; four of them give labels their looks, once for a repository
	hubOpenRequests, hubOpenPoints = 2, 2  // a tick that only waits for people
	hubManyRequests, hubManyPoints = 3, 3  // of a tick with 100 repositories in which nothing happened
)

// TestHubCosts counts the requests of whole ticks, and what they are charged.
func TestHubCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has nothing to find in it")
	}
	l := newHubLife(t, program(t))
	auto := strings.Replace(hubConfig, "[[repository]]", "[[repository]]\nplan_approval = \"auto\"", 1)
	l.write(filepath.Join(l.dir, "backburner.toml"), auto)
	l.shop.OpenIssue("ann", "Say hello", "Everybody is meant.")
	l.shop.Label("ann", 1, "backburner")
	l.tick()
	l.count("from the label to the ready pull request", hubLifeRequests, hubLifePoints)
	if !strings.Contains(l.shop.Show(2), "pull request 2 open: Say hello") {
		t.Errorf("it is not ready:\n%s", l.said.String())
	}
	l.hub.Advance(time.Hour)
	l.tick() // reads what backburner itself wrote
	l.hub.Log()
	l.tick()
	l.count("a tick that only waits for people", hubOpenRequests, hubOpenPoints)
	for n := 2; n <= 100; n++ {
		slug := fmt.Sprintf("acme/shop%d", n)
		l.hub.AddRepository(slug).OpenIssue("ann", "Say hello", "To everybody.")
		auto += "[[repository]]\nslug = \"" + slug + "\"\n"
		if n != 10 && n != 100 {
			continue
		}
		l.write(filepath.Join(l.dir, "backburner.toml"), auto)
		l.hub.Advance(time.Hour)
		l.tick()
		l.hub.Log()
		l.tick()
		l.count(fmt.Sprintf("a tick with %d repositories in which nothing happened", n), hubManyRequests, hubManyPoints)
	}
}

// count holds what was asked for since the last time against what is allowed.
func (l *hubLife) count(what string, requests, points int) {
	l.t.Helper()
	all := l.hub.Log()
	charged, spent := 0, 0
	var list strings.Builder
	for _, r := range all {
		fmt.Fprintf(&list, "    %s\n", r)
		spent += r.Points
		if r.Charged {
			charged++
		}
	}
	l.t.Logf("%s: %d requests, %d of them charged to REST, %d points of GraphQL", what, len(all), charged, spent)
	if len(all) > requests || spent > points {
		l.t.Errorf("%s: %d requests and %d points, more than %d and %d:\n%s", what, len(all), spent, requests, points, list.String())
	}
}
