package githubtest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say how a server begins.
type Options struct {
	Dir     string           // folder for its bare repositories
	Now     func() time.Time // nil: the clock of this machine
	Schemas string           // folder with GitHub's descriptions; "": as SchemasVariable says
}

// Server is GitHub: its state, and a listener that can be stopped and started.
type Server struct {
	mu         sync.Mutex
	world      *world
	address    string
	serving    *http.Server
	ended      chan struct{}
	faults     []*Fault
	requests   []Request
	shown      int // requests that Log gave already
	violations []string
	schemas    *schemas
}

// New makes a server that does not listen yet.
func New(opts Options) (*Server, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Schemas == "" {
		opts.Schemas = os.Getenv(SchemasVariable)
	}
	if err := os.MkdirAll(opts.Dir, 0o755); err != nil {
		return nil, err
	}
	described, err := loadSchemas(opts.Schemas)
	if err != nil {
		return nil, err
	}
	w := &world{now: opts.Now, dir: opts.Dir, nodes: map[string]object{}}
	s := &Server{world: w, schemas: described}
	w.addUser("github-actions[bot]", true, "write")
	return s, nil
}

// Start listens on loopback; after a Stop, on the address it had.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.address == "" {
		s.address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.address = listener.Addr().String()
	s.world.url = "http://" + s.address
	serving, ended := &http.Server{Handler: s}, make(chan struct{})
	s.serving, s.ended = serving, ended
	go func() {
		defer close(ended)
		_ = serving.Serve(listener) // ends with Stop only
	}()
	return nil
}

// Stop cuts all connections and refuses new ones; the state stays.
func (s *Server) Stop() {
	s.mu.Lock()
	serving, ended := s.serving, s.ended
	s.serving = nil
	s.mu.Unlock()
	if serving != nil {
		_ = serving.Close()
		<-ended
	}
}

// URL is the root of the REST interface; GraphQL is at URL/graphql.
func (s *Server) URL() string {
	defer s.lock()()
	return s.world.url
}

// CloneURL is the template for the addresses of its repositories.
func (s *Server) CloneURL() string { return "file://" + s.world.dir + "/{slug}.git" }

// Violations are what a client did that GitHub would not serve, or that this
// GitHub does not know, and answers of its own that break GitHub's descriptions.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

func (s *Server) violate(format string, args ...any) {
	s.violations = append(s.violations, fmt.Sprintf(format, args...))
}

// TB is what [Start] needs of a test.
type TB interface {
	Helper()
	TempDir() string
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start is a server for one test: it listens, ends with the test, and fails it
// with its violations.
func Start(t TB, opts ...Options) *Server {
	t.Helper()
	o := Options{}
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := New(o)
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		t.Fatalf("github: %v", err)
	}
	if why := s.Unchecked(); why != "" {
		t.Logf("github: requests and answers are not held against GitHub's descriptions: %s", why)
	}
	t.Cleanup(func() {
		s.Stop()
		if v := s.Violations(); len(v) > 0 {
			t.Errorf("github: violations:\n  %s", strings.Join(v, "\n  "))
		}
	})
	return s
}
