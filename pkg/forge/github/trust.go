package github

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// How long it is believed what a person may do. To be let in takes effect soon;
// so does to be put out.
const (
	allowedLife = 15 * time.Minute
	refusedLife = time.Minute
)

// Role is what an account may do in a repository, as of a time.
type Role struct {
	Permission string    `json:"permission"` // admin, write, read, none
	Bot        bool      `json:"bot,omitempty"`
	At         time.Time `json:"at"`
}

// Writes reports whether the role is one to be believed.
func (r Role) Writes() bool { return r.Permission == "admin" || r.Permission == "write" }

func (r Role) fresh(now time.Time) bool {
	life := refusedLife
	if r.Writes() {
		life = allowedLife
	}
	return now.Sub(r.At) < life && !now.Before(r.At)
}

// Trust decides who is believed in one repository: people with write access,
// and who is listed. It is for one goroutine at a time.
type Trust struct {
	Users []string // logins of people who are believed without write access
	Bots  []string // of apps, with or without [bot]
	Roles map[string]Role
}

// Verdict is whether somebody is believed.
type Verdict struct {
	Believed bool
	Who      Actor  // who is not
	Why      string // a sentence's part: "ann has read access only"
}

// Judge says whether all of some actors are believed in a repository, asking
// GitHub for the role of whoever is not known. What it learns is kept in Roles.
func (c *Client) Judge(ctx context.Context, slug string, t *Trust, actors []Actor) (Verdict, error) {
	if len(actors) == 0 {
		return Verdict{Why: "nobody is named"}, nil
	}
	for _, a := range actors {
		v, decided := t.listed(a)
		if !decided {
			role, err := c.role(ctx, slug, t, a.Login)
			if err != nil {
				return Verdict{}, err
			}
			v = judge(a, role)
		}
		if !v.Believed {
			return v, nil
		}
	}
	return Verdict{Believed: true}, nil
}

// listed is what can be said of an actor without asking.
func (t *Trust) listed(a Actor) (Verdict, bool) {
	holds := func(list []string) bool {
		return slices.ContainsFunc(list, func(login string) bool { return a.Login != "" && sameLogin(login, a.Login) })
	}
	switch {
	case a.Login == "":
		return Verdict{Who: a, Why: "the account was deleted"}, true
	case a.Bot():
		return Verdict{Believed: holds(t.Bots), Who: a, Why: a.Login + " is an app, and not one of trusted_bots"}, true
	case a.Type != "User":
		return Verdict{Who: a, Why: a.Login + " is not the account of a person"}, true
	case holds(t.Users):
		return Verdict{Believed: true}, true
	}
	return Verdict{}, false
}

func judge(a Actor, r Role) Verdict {
	switch {
	case r.Bot:
		return Verdict{Who: a, Why: a.Login + " is an app"}
	case r.Writes():
		return Verdict{Believed: true}
	case r.Permission == "read":
		return Verdict{Who: a, Why: a.Login + " has no write access to the repository"}
	}
	return Verdict{Who: a, Why: a.Login + " has no access to the repository"}
}

func (c *Client) role(ctx context.Context, slug string, t *Trust, login string) (Role, error) {
	key := strings.ToLower(login)
	if r, known := t.Roles[key]; known && r.fresh(c.options.Now()) {
		return r, nil
	}
	r, err := c.Role(ctx, slug, login)
	if err == nil {
		if t.Roles == nil {
			t.Roles = make(map[string]Role)
		}
		maps.DeleteFunc(t.Roles, func(_ string, r Role) bool { return !r.fresh(c.options.Now()) }) // else all who ever wrote there are kept
		t.Roles[key] = r
	}
	return r, err
}

// Role asks what an account may do in a repository.
func (c *Client) Role(ctx context.Context, slug, login string) (Role, error) {
	var got struct {
		Permission string
		User       struct{ Type string }
	}
	r := Role{Permission: "none", At: c.options.Now().UTC()}
	_, err := c.do(ctx, request{op: "ask what " + login + " may do in " + slug, path: repoPath(slug, "collaborators", login, "permission")}, &got)
	var e *Error
	switch {
	case errors.As(err, &e) && e.Kind == KindNotFound:
		return r, nil
	case err != nil:
		return r, err
	}
	r.Bot = got.User.Type == "Bot"
	if got.Permission != "" {
		r.Permission = got.Permission
	}
	return r, nil
}

// repoPath is a path below a repository.
func repoPath(slug string, parts ...string) string {
	owner, name, _ := strings.Cut(slug, "/")
	return path(append([]string{"repos", owner, name}, parts...)...)
}
