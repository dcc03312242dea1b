package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// world is everything GitHub knows. Its methods and those of its records are
// called with the server's lock held.
type world struct {
	now    func() time.Time
	offset time.Duration
	lastID int64
	users  []*user
	tokens []*token
	repos  []*repository
	nodes  map[string]object
	dir    string // bare repositories live here as owner/name.git
	url    string // root of the REST interface
}

// object is a record with its GraphQL type.
type object struct {
	kind  string
	value any
}

// identity is what every record of GitHub's has.
type identity struct {
	id      int64
	node    string
	created time.Time
	updated time.Time
}

func (i identity) nodeID() string { return i.node }

type user struct {
	identity
	login string
	bot   bool
	gone  bool
	role  string // on every repository that has no word of its own about this user
}

// time has seconds only, as on GitHub.
func (w *world) time() time.Time { return w.now().Add(w.offset).UTC().Truncate(time.Second) }

// firstID is beyond 32 bits, as the ids of issues and comments are: GraphQL's
// databaseId cannot hold them, its fullDatabaseId does.
const firstID = 3_000_000_000

// identify gives a record its ids and makes it reachable by node id.
func (w *world) identify(prefix, kind string, value any) identity {
	w.lastID++
	now := w.time()
	id := identity{id: firstID + w.lastID, created: now, updated: now}
	if kind == "User" || kind == "Bot" || kind == "Repository" {
		id.id -= firstID
	}
	id.node = fmt.Sprintf("%s_kwDO%06d", prefix, id.id)
	w.nodes[id.node] = object{kind, value}
	return id
}

func (w *world) addUser(login string, bot bool, role string) *user {
	if u := w.user(login); u != nil {
		u.role = role
		return u
	}
	u := &user{login: login, bot: bot, role: role}
	prefix, kind := "U", "User"
	if bot {
		prefix, kind = "BOT", "Bot"
	}
	u.identity = w.identify(prefix, kind, u)
	w.users = append(w.users, u)
	return u
}

// user knows logins in any case.
func (w *world) user(login string) *user {
	for _, u := range w.users {
		if strings.EqualFold(u.login, login) {
			return u
		}
	}
	return nil
}

// find is the repository of that name, also of one that it once had.
func (w *world) find(slug string) (r *repository, renamed bool) {
	for _, r := range w.repos {
		if strings.EqualFold(r.slug(), slug) {
			return r, false
		}
	}
	for _, r := range w.repos {
		if slices.ContainsFunc(r.formerly, func(s string) bool { return strings.EqualFold(s, slug) }) {
			return r, true
		}
	}
	return nil, false
}

// roles are GitHub's, each including those before it.
var roles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// atLeast compares two roles; an unknown one is a mistake of the test.
func atLeast(role, least string) bool { return rank(role) >= rank(least) }

func rank(role string) int {
	i := slices.Index(roles, role)
	if i < 0 {
		panic(fmt.Sprintf("githubtest: there is no role %q, only %s", role, strings.Join(roles, ", ")))
	}
	return i
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

// stampOrNil is null for a time that has not come.
func stampOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

// orNil is null for an empty text.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
