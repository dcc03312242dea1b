package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// FileName is the name of the configuration file.
const FileName = "backburner.toml"

// maxSize is the largest file that is read, in bytes.
const maxSize = 1 << 20

// Sources is where a configuration is read from.
type Sources struct {
	Path  string            // the file; "": BACKBURNER_CONFIG, else found
	Dir   string            // working directory, absolute
	Env   []string          // as os.Environ gives it
	Flags map[string]string // key such as "tick.max_agents" -> value as in the environment
}

// Load reads the configuration and checks it. Without a file it is the defaults
// with environment and flags; File is then empty. Its error is an *Errors with
// every problem there is.
func Load(s Sources) (*Config, error) {
	var ps problems
	c := newConfig(s.Dir)
	understood := true
	if path := s.file(); path != "" {
		c.file, c.base = s.shown(path), s.baseFor(path)
		text, ok := read(path, c.file, &ps)
		understood = ok && c.decode(text, &ps)
	}
	c.overlay(s, &ps)
	// How settings go together cannot be judged when some could not be read.
	if understood {
		c.complete(&ps)
		c.resolve(s)
		c.validate(&ps)
	}
	if err := ps.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// Default is the configuration without file, environment and flags: one local
// repository, no agents (see WithAgents), no gates. The caller sets its Base to
// the branch it found.
func Default(repoPath string) *Config {
	c := newConfig(repoPath).WithRepository(repoPath)
	c.resolve(Sources{Dir: repoPath})
	return c
}

func newConfig(base string) *Config {
	c := newWithDefaults[Config]()
	c.base, c.origins = base, map[string]Origin{}
	return &c
}

// environment is the part of the environment that is backburner's, by name.
func (s Sources) environment() map[string]string {
	env := map[string]string{}
	for _, pair := range s.Env {
		if name, value, ok := strings.Cut(pair, "="); ok && strings.HasPrefix(name, envPrefix) {
			env[name] = value
		}
	}
	return env
}

func (s Sources) getenv(name string) string {
	for _, pair := range s.Env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// file is the path of the configuration file, or "" when there is none. A path
// that was asked for need not exist.
func (s Sources) file() string {
	if path := s.Path; path != "" {
		return s.absolute(path)
	}
	if path := s.getenv(configEnv); path != "" {
		return s.absolute(path)
	}
	for dir := s.Dir; ; dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, FileName); exists(path) {
			return path
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if path := s.userFile(); path != "" && exists(path) {
		return path
	}
	return ""
}

// exists counts what cannot be looked at as there, so that it is reported.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// userFile is the file in the user's configuration folder, by the XDG base
// directory specification, which ignores relative paths.
func (s Sources) userFile() string {
	dir := s.getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := s.getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "backburner", FileName)
}

// baseFor is the folder that relative paths mean: the file's own, so that a tick
// from cron and one from a subfolder share their state. The user's file is about
// whatever repository it is used in.
func (s Sources) baseFor(path string) string {
	if path == s.userFile() {
		return s.Dir
	}
	return filepath.Dir(path)
}

func (s Sources) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.Dir, path)
}

// shown is the path as people know it: from the working directory when it is in it.
func (s Sources) shown(path string) string {
	if rel, err := filepath.Rel(s.Dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// read gives the text of the file, or adds what prevents that.
func read(path, shown string, ps *problems) (string, bool) {
	at := Origin{Kind: FromFile, File: shown}
	// Stat first: opening a named pipe would wait for a writer.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		ps.add(at, "", "there is no such file; check --config and "+configEnv+", or run backburner init to write one")
		return "", false
	case err == nil && info.IsDir():
		ps.add(at, "", "is a folder; name the file in it, such as "+filepath.Join(shown, FileName))
		return "", false
	case err == nil && !info.Mode().IsRegular():
		ps.add(at, "", "is not a regular file; name a TOML file")
		return "", false
	case err == nil && info.Size() > maxSize:
		ps.add(at, "", fmt.Sprintf("has %d bytes, more than the %d a configuration may have; is it the right file?", info.Size(), maxSize))
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		ps.add(at, "", fmt.Sprintf("cannot be read: %v; check who may read it", reason(err)))
		return "", false
	}
	return checkText(string(data), at, ps)
}

// reason is an error without the path that the message names already.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// checkText refuses what is not UTF-8 without byte order mark.
func checkText(text string, at Origin, ps *problems) (string, bool) {
	at.Line = 1
	switch {
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"), strings.Contains(text[:min(len(text), 6)], "\x00"):
		ps.add(at, "", "is UTF-16; save it as UTF-8")
		return "", false
	case strings.HasPrefix(text, "\xef\xbb\xbf"):
		ps.add(at, "", "begins with a byte order mark; save it as UTF-8 without one")
		return "", false
	}
	for i, line := range strings.Split(text, "\n") {
		if !utf8.ValidString(line) {
			at.Line = i + 1
			ps.add(at, "", "is not UTF-8 on this line; save the file as UTF-8")
			return "", false
		}
	}
	return text, true
}

// decode parses the file's text into c. It reports whether it is TOML.
func (c *Config) decode(text string, ps *problems) bool {
	found := locate(text)
	if found.tooDeep > 0 {
		ps.add(Origin{Kind: FromFile, File: c.file, Line: found.tooDeep}, "", fmt.Sprintf("is nested more than %d deep; nothing here needs that", maxNesting))
		return false
	}
	tree, err := parse(text)
	if err != nil {
		c.syntaxProblem(err, ps)
		return false
	}
	d := decoder{file: c.file, lines: found.lines, origins: c.origins, problems: ps}
	d.table("", tree, reflect.ValueOf(c).Elem())
	for _, key := range found.order {
		if name, ok := strings.CutPrefix(key, "agent."); ok {
			if _, isAgent := c.Agents[name]; isAgent {
				c.agentOrder = append(c.agentOrder, name)
			}
		}
	}
	return true
}

// parse is the TOML library with its last resort, a panic, made an error.
func parse(text string) (tree map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	_, err = toml.Decode(text, &tree)
	return tree, err
}

func (c *Config) syntaxProblem(err error, ps *problems) {
	at := Origin{Kind: FromFile, File: c.file, Line: 1}
	message := err.Error()
	var syntax toml.ParseError
	if errors.As(err, &syntax) {
		at.Line, message = syntax.Position.Line, syntax.Message
	}
	ps.add(at, "", fmt.Sprintf("is not TOML: %s; %s; other problems show after that", lowerFirst(strings.TrimSuffix(message, ".")), syntaxHint(message)))
}

// lowerFirst makes the library's sentence part of ours.
func lowerFirst(sentence string) string {
	if len(sentence) > 1 && sentence[1] >= 'a' && sentence[1] <= 'z' {
		return strings.ToLower(sentence[:1]) + sentence[1:]
	}
	return sentence
}

// syntaxHint says what is mostly meant where the library says what it expected.
func syntaxHint(message string) string {
	for _, known := range []struct{ in, hint string }{
		{"expected value but found", "put text in quotes, and write true and false small"},
		{"to end with a newline", "put text and durations in quotes, and each setting on a line of its own"},
		{"already been defined", "keep one of the two; [[name]] begins another element of a list of tables"},
		{"hexadecimal", `write \\ for one \, or use 'single quotes'`},
		{"invalid escape", `write \\ for one \, or use 'single quotes'`},
	} {
		if strings.Contains(message, known.in) {
			return known.hint
		}
	}
	return "correct it here, or on the line before"
}
