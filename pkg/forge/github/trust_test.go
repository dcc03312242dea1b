package github_test

import (
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge/github"
)

func TestJudge(t *testing.T) {
	h := newHub(t)
	h.AddUser("mia", "maintain")
	h.AddUser("tom", "triage")
	h.AddBot("helper[bot]", "write")
	h.AddUser("helper", "write")
	h.shop.SetPrivate(true)
	h.AddUser("eve", "none")
	user := func(login string) github.Actor { return github.Actor{Login: login, Type: "User"} }
	for _, tc := range []struct {
		name   string
		actors []github.Actor
		trust  github.Trust
		want   bool
	}{
		{"writes", []github.Actor{user("ann")}, github.Trust{}, true},
		{"maintains", []github.Actor{user("mia")}, github.Trust{}, true},
		{"triages", []github.Actor{user("tom")}, github.Trust{}, false},
		{"reads", []github.Actor{user("bob")}, github.Trust{}, false},
		{"reads, and is listed", []github.Actor{user("bob")}, github.Trust{Users: []string{"Bob"}}, true},
		{"has no access", []github.Actor{user("eve")}, github.Trust{}, false},
		{"is not there", []github.Actor{user("nobody")}, github.Trust{}, false},
		{"was edited by one who reads", []github.Actor{user("ann"), user("bob")}, github.Trust{}, false},
		{"app", []github.Actor{{Login: "helper", Type: "Bot"}}, github.Trust{}, false},
		{"app, listed", []github.Actor{{Login: "helper", Type: "Bot"}}, github.Trust{Bots: []string{"helper[bot]"}}, true},
		{"app, listed as a person", []github.Actor{{Login: "helper", Type: "Bot"}}, github.Trust{Users: []string{"helper"}}, false},
		{"person by the name of a listed app", []github.Actor{user("bob")}, github.Trust{Bots: []string{"bob"}}, false},
		{"deleted account", []github.Actor{{}}, github.Trust{Users: []string{""}}, false},
		{"import", []github.Actor{{Login: "ann", Type: "Mannequin"}}, github.Trust{}, false},
		{"nobody", nil, github.Trust{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, err := h.client().Judge(ctx, "acme/shop", &tc.trust, tc.actors)
			must(t, err)
			if v.Believed != tc.want || v.Believed == (v.Why != "") {
				t.Errorf("got %+v", v)
			}
		})
	}
}

// Who is let in is believed soon, who is put out not much longer; in between
// GitHub is not asked.
func TestRolesAreRemembered(t *testing.T) {
	h := newHub(t)
	c := h.client()
	trust := &github.Trust{}
	believed := func(login string) bool {
		t.Helper()
		v, err := c.Judge(ctx, "acme/shop", trust, []github.Actor{{Login: login, Type: "User"}})
		must(t, err)
		return v.Believed
	}
	pass := func(d time.Duration) { h.clock.now = h.clock.now.Add(d) }
	if !believed("ann") || believed("bob") || !believed("ANN") || len(h.Requests()) != 2 {
		t.Errorf("%d requests, %v", len(h.Requests()), trust.Roles)
	}
	h.shop.Permit("ann", "read")
	h.shop.Permit("bob", "write")
	if !believed("ann") || believed("bob") || len(h.Requests()) != 2 {
		t.Errorf("asked again at once: %d requests", len(h.Requests()))
	}
	pass(2 * time.Minute)
	if !believed("bob") {
		t.Error("bob may write, and is not believed")
	}
	pass(14 * time.Minute)
	if believed("ann") {
		t.Error("ann may write no more, and is believed")
	}
	if pass(time.Hour); !believed("bob") || len(trust.Roles) != 1 {
		t.Errorf("what nobody needs is kept: %v", trust.Roles)
	}
}
