package githubtest

import (
	"fmt"
	"strings"
	"time"
)

// Repository is what people do in one repository. Every act names who does it.
type Repository struct {
	server *Server
	repo   *repository
}

func (s *Server) lock() func() {
	s.mu.Lock()
	return s.mu.Unlock
}

// Advance moves the clock of GitHub.
func (s *Server) Advance(d time.Duration) {
	defer s.lock()()
	s.world.offset += d
}

// Freeze stops the clock of GitHub at a time.
func (s *Server) Freeze(at time.Time) {
	defer s.lock()()
	s.world.now, s.world.offset = func() time.Time { return at }, 0
}

// AddUser adds a person with a role on every repository ("none", "read",
// "triage", "write", "maintain", "admin"), or changes the role.
func (s *Server) AddUser(login, role string) {
	defer s.lock()()
	rank(role)
	s.world.addUser(login, false, role)
}

// AddBot adds an account of an app; by convention, not by rule, its login ends in "[bot]".
func (s *Server) AddBot(login, role string) {
	defer s.lock()()
	rank(role)
	s.world.addUser(login, true, role)
}

// DeleteUser deletes an account; what it wrote stays, without an author.
func (s *Server) DeleteUser(login string) {
	defer s.lock()()
	s.world.user(login).gone = true
}

// IssueToken hands out a token; it is the text of the credential.
func (s *Server) IssueToken(t Token) string {
	defer s.lock()()
	return s.world.issueToken(t).text
}

// ChangeToken changes what a token is or may do, from now on.
func (s *Server) ChangeToken(text string, change func(*Token)) {
	defer s.lock()()
	t := s.world.token(text)
	if t == nil {
		panic("githubtest: no token " + text)
	}
	change(&t.Token)
	t.user = s.world.user(t.Login)
}

// SpendTo leaves a token so many requests and points until its limits reset.
func (s *Server) SpendTo(text string, requests, points int) {
	defer s.lock()()
	t := s.world.token(text)
	for l, left := range map[*window]int{&t.rest: requests, &t.gql: points} {
		l.roll(s.world.time())
		l.used = l.limit - left
	}
}

// Replenish lets the limits of all tokens begin anew.
func (s *Server) Replenish() {
	defer s.lock()()
	for _, t := range s.world.tokens {
		t.rest.used, t.gql.used = 0, 0
	}
}

// AddRepository makes a public repository, empty but for what its bare
// repository holds already.
func (s *Server) AddRepository(slug string) *Repository {
	defer s.lock()()
	return &Repository{s, s.world.addRepository(slug)}
}

// Repository is the one of that name, under its present or an earlier one.
func (s *Server) Repository(slug string) *Repository {
	defer s.lock()()
	r, _ := s.world.find(slug)
	if r == nil {
		panic("githubtest: no repository " + slug)
	}
	return &Repository{s, r}
}

func (r *Repository) user(login string) *user {
	u := r.server.world.user(login)
	if u == nil {
		panic("githubtest: no user " + login)
	}
	return u
}

func (r *Repository) issue(number int) *issue {
	i := r.repo.issue(number)
	if i == nil || i.gone {
		panic(fmt.Sprintf("githubtest: no issue or pull request %s#%d", r.repo.slug(), number))
	}
	return i
}

func (r *Repository) comment(id int64) *comment {
	c := r.repo.comment(id)
	if c == nil {
		panic(fmt.Sprintf("githubtest: no comment %d in %s", id, r.repo.slug()))
	}
	return c
}

// CloneURL is where git fetches and pushes.
func (r *Repository) CloneURL() string {
	defer r.server.lock()()
	return "file://" + r.repo.git.dir
}

// Permit gives a user a role here.
func (r *Repository) Permit(login, role string) {
	defer r.server.lock()()
	rank(role)
	r.repo.roles[strings.ToLower(r.user(login).login)] = role
}

// SetArchived makes a repository read-only, or not.
func (r *Repository) SetArchived(archived bool) {
	defer r.server.lock()()
	r.repo.archived = archived
}

// SetPrivate hides a repository from those without a role, or not.
func (r *Repository) SetPrivate(private bool) {
	defer r.server.lock()()
	r.repo.private = private
}

// SetRules says what a merge needs.
func (r *Repository) SetRules(rules Rules) {
	defer r.server.lock()()
	r.repo.rules = rules
}

// Rename renames or transfers the repository; its old name leads to the new one.
func (r *Repository) Rename(slug string) {
	defer r.server.lock()()
	r.repo.rename(slug)
}

// Delete deletes the repository.
func (r *Repository) Delete() {
	defer r.server.lock()()
	r.repo.remove()
}

// AddLabel makes a label without putting it on anything.
func (r *Repository) AddLabel(name, color, description string) {
	defer r.server.lock()()
	if r.repo.label(name) == nil {
		r.repo.addLabel(name, color, description)
	}
}
