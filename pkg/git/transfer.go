package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Refspec is one reference to fetch, and where its value is kept.
type Refspec struct{ From, To string }

// Fetch brings references of the repository at url, and what they need, into r, whatever r had under those names.
// url may be a path on this machine. Nothing but what refspecs name is written.
func (r Repo) Fetch(ctx context.Context, url string, refspecs ...Refspec) error {
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--show-forced-updates",
		"--refmap=", "--force", target,
	}
	for _, s := range refspecs {
		if err := errors.Join(CheckRef(s.From), CheckRef(s.To)); err != nil {
			return err
		}
		args = append(args, s.From+":"+s.To)
	}
	c, err := r.remoteCall(ctx, url, args)
	if err != nil {
		return err
	}
	_, err = r.run(ctx, c)
	if r.private && errors.Is(moved(err), ErrMoved) {
		// A fetch that a killed process of ours started came first.
		_, err = r.run(ctx, c)
	}
	for _, s := range refspecs {
		err = errors.Join(err, r.Settle(s.To))
	}
	return err
}

// FetchObjects brings a commit of the repository in the folder path, and what it needs, into r. No reference is written.
func (r Repo) FetchObjects(ctx context.Context, path, commit string) error {
	if err := checkIDs(commit); err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		return &NameError{path, "is not an absolute path"}
	}
	_, err := r.run(ctx, call{args: []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance",
		"--refmap=", path, commit,
	}})
	return err
}

// target is the name of the remote that a call is given. It is none that people use: what they configure for all their repositories would be
// added to it, and the first of several addresses counts.
const target = "backburner-target"

// remoteCall is a call in which url is the remote target. A url with a password in it is not seen in the process list this way.
func (r Repo) remoteCall(ctx context.Context, url string, args []string) (call, error) {
	if strings.HasPrefix(url, "-") || url == "" {
		return call{}, &NameError{url, "is not the address of a repository"}
	}
	c := call{args: args, network: true, config: []Setting{{"remote." + target + ".url", url}}}
	if isSSH(url) {
		ssh := r.git.sshCommand
		if ssh == "" {
			result, err := r.run(ctx, call{args: []string{"config", "--get", "core.sshCommand"}, answers: []int{1}})
			if err != nil {
				return call{}, err
			}
			ssh = strings.TrimSpace(string(result.Stdout))
		}
		if ssh == "" {
			ssh = "ssh"
		}
		c.env = []string{"GIT_SSH_COMMAND=" + ssh + " -oBatchMode=yes"}
	}
	return c, nil
}

// isSSH says whether git would use ssh for url: "ssh://..." or "[user@]host:path".
func isSSH(url string) bool {
	scheme, _, hasScheme := strings.Cut(url, "://")
	if hasScheme {
		return scheme == "ssh" || scheme == "git+ssh" || scheme == "ssh+git"
	}
	colon, slash := strings.IndexByte(url, ':'), strings.IndexByte(url, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

// PushResult is what became of one pushed reference.
type PushResult string

// What can become of a push.
const (
	Pushed      PushResult = "pushed"
	AlreadyThat PushResult = "already"      // the remote had that value
	LeaseFailed PushResult = "lease_failed" // the remote had another value than was expected
	PushRefused PushResult = "refused"      // by the remote: protection, a hook, rights
)

// Push sets the reference name of the repository at url to commit, if and only if it is old there now ([ZeroID]: does not exist).
// The string says in git's words why it was not done. An error means that the remote was not reached, or that nobody knows.
func (r Repo) Push(ctx context.Context, url, name, commit, old string) (PushResult, string, error) {
	if err := errors.Join(CheckRef(name), checkIDs(commit, old)); err != nil {
		return "", "", err
	}
	expected := old
	if old == ZeroID(old) {
		expected = ""
	}
	c, err := r.remoteCall(ctx, url, []string{
		"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed",
		"--force-with-lease=" + name + ":" + expected, target, commit + ":" + name,
	})
	if err != nil {
		return "", "", err
	}
	c.answers = []int{1}
	result, err := r.run(ctx, c)
	if err != nil {
		return "", "", err
	}
	outcome, detail := parsePush(r.redact(c, string(result.Stdout)), name)
	said := &Error{Args: c.args, Dir: r.name(), Exit: result.Exit, Stderr: tail(result.Stderr)}
	switch {
	case outcome == "":
		return "", "", said
	case outcome == LeaseFailed && Outside(said):
		outcome = PushRefused
	}
	if outcome == PushRefused || outcome == LeaseFailed {
		detail += remoteWords(said.Stderr)
	}
	return outcome, detail, nil
}

// remoteWords are what the other side had to say, as an addition to a sentence.
func remoteWords(stderr string) string {
	const most = 400
	var words []string
	for line := range strings.Lines(stderr) {
		if said, ok := strings.CutPrefix(line, "remote: "); ok {
			words = append(words, strings.Join(strings.Fields(said), " "))
		}
	}
	said := strings.Join(words, "; ")
	if said == "" {
		return ""
	}
	return ": " + strings.ToValidUTF8(said[:min(len(said), most)], "")
}

// parsePush reads "<flag>\t<from>:<to>\t<summary>" of push --porcelain.
func parsePush(said, name string) (PushResult, string) {
	for line := range strings.Lines(said) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(fields) != 3 || !strings.HasSuffix(fields[1], ":"+name) {
			continue
		}
		switch {
		case fields[0] == "=":
			return AlreadyThat, fields[2]
		case fields[0] != "!":
			return Pushed, fields[2]
		case strings.Contains(fields[2], "stale info"), strings.Contains(fields[2], "fetch first"),
			strings.Contains(fields[2], "cannot lock ref"), strings.Contains(fields[2], "failed to update ref"):
			return LeaseFailed, fields[2]
		}
		return PushRefused, fields[2]
	}
	return "", ""
}

// unaided has git look at the objects themselves: what lies beside borrowed ones to speed up reading them is somebody else's word for what is
// in them.
var unaided = []Setting{{"core.commitGraph", "false"}, {"core.multiPackIndex", "false"}, {"pack.useBitmaps", "false"}}

// Import copies the commits ids, and of what they need everything that known does not reach, from the objects that r borrows into
// r's own. The copy is made in the folder scratch (on the same file system), checked object by object as if it came from a stranger,
// including that nothing is missing, and durable before it becomes visible. It says how many bytes were new.
func (r Repo) Import(ctx context.Context, scratch string, ids, known []string) (int64, error) {
	if err := checkIDs(append(append([]string{}, ids...), known...)...); err != nil {
		return 0, err
	}
	want := strings.Join(ids, "\n") + "\n"
	for _, id := range known {
		want += "^" + id + "\n"
	}
	result, err := r.run(ctx, call{
		args:  []string{"pack-objects", "--revs", "--quiet", "--non-empty", "--no-reuse-object", filepath.Join(scratch, "pack")},
		stdin: []byte(want), config: append([]Setting{{"pack.threads", "1"}}, unaided...),
	})
	if err != nil {
		return 0, err
	}
	name := strings.TrimSpace(string(result.Stdout))
	if name == "" {
		return 0, nil // everything was there already
	}
	if !IsObjectID(name) {
		return 0, fmt.Errorf("pack objects: unexpected answer %q", name)
	}
	pack := filepath.Join(scratch, "pack-"+name+".pack")
	checked := filepath.Join(scratch, "checked-"+name+".idx")
	own := r
	own.borrowed = ""
	if _, err := own.run(ctx, call{args: []string{"index-pack", "--strict", "-o", checked, pack}}); err != nil {
		return 0, err
	}
	return own.adopt(pack, checked, name)
}

// adopt moves a checked pack into the repository: the pack first, because git looks for packs by their index.
func (r Repo) adopt(pack, index, name string) (int64, error) {
	info, err := os.Stat(pack)
	if err != nil {
		return 0, err
	}
	dir := filepath.Join(r.Objects(), "pack")
	for _, move := range [][2]string{{pack, "pack-" + name + ".pack"}, {index, "pack-" + name + ".idx"}} {
		if err := os.Rename(move[0], filepath.Join(dir, move[1])); err != nil {
			return 0, err
		}
	}
	return info.Size(), syncDir(dir)
}
