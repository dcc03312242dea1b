package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
)

const (
	// localTimeout ends a call that stays on this machine: long enough for a checkout of a very large tree on a slow disk.
	localTimeout = 10 * time.Minute
	// networkTimeout ends a call that talks to a remote; one that stalls is ended earlier, by http.lowSpeedTime.
	networkTimeout = 30 * time.Minute
	// maxOutput bounds an answer in memory: a status of some million paths.
	maxOutput = 256 << 20
	// maxMessage bounds what an Error keeps of what git said.
	maxMessage = 4 << 10
)

// Options say which git is called and with what.
type Options struct {
	// Path is the git program, by default "git" in the PATH of Environ.
	Path string
	// Environ is the environment to start from, by default that of this process. GIT_* variables in it are dropped.
	Environ []string
	// NetworkConfig is added to calls that talk to a remote, and to no others: a token, for example. It is asked for once, by the first of them.
	NetworkConfig func() []Setting
}

// Setting is one configuration key and its value.
type Setting struct{ Key, Value string }

// Git calls the git program. It may be used by many goroutines at once.
type Git struct {
	path          string
	environ       []string
	sshCommand    string
	networkConfig func() []Setting
	calls         atomic.Int64
	settled       sync.Map // when a folder was last made durable, by path
}

// New returns a Git that calls the program as opts say.
func New(opts Options) *Git {
	if opts.Path == "" {
		opts.Path = "git"
	}
	if opts.NetworkConfig == nil {
		opts.NetworkConfig = func() []Setting { return nil }
	}
	clean, ssh := cleanEnvironment(opts.Environ)
	return &Git{
		path: opts.Path, environ: clean, sshCommand: ssh,
		networkConfig: sync.OnceValue(opts.NetworkConfig),
	}
}

// Calls says how many git processes were started so far. What they start themselves is not counted.
func (g *Git) Calls() int64 { return g.calls.Load() }

// Error is a call of git that ended with a code that is not an answer.
type Error struct {
	Args   []string // after the program's name
	Dir    string   // the repository, or the folder it ran in
	Exit   int
	Stderr string // the end of what git said, at most 4 KiB
}

func (e *Error) Error() string {
	said := oneLine(e.Stderr)
	if said == "" {
		said = fmt.Sprintf("exit code %d", e.Exit)
	}
	if advice := advise(e.Stderr); advice != "" {
		said += ": " + advice
	}
	verb := "git"
	if len(e.Args) > 0 {
		verb = "git " + e.Args[0]
	}
	return fmt.Sprintf("%s in %s: %s", verb, e.Dir, said)
}

// outside is how git says that the disk is full, read-only or broken, or that the machine has no more files, processes or memory to give.
var outside = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)(: (No space left on device|Disk quota exceeded|Read-only file system|Input/output error|` +
		`File too large|Too many open files.*|Cannot allocate memory|Resource temporarily unavailable)[ \t]*$|` +
		// These leave out why.
		`out of memory|out of diskspace|failed to insert into database|unable to write new.?index|unable to create directory for|failed to write new configuration file|couldn't (write|set|close) ')`)
})

// Outside reports whether an error, of git or of the system, is trouble with the machine, such as a full or read-only disk. Nothing is known then
// of what was worked on, and the same may work another time.
func Outside(err error) bool {
	var failed *Error
	if errors.As(err, &failed) {
		return outside().MatchString(failed.Stderr)
	}
	for _, errno := range []syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EFBIG, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// ErrLocked is wrapped by the error of a call that found a lock held for longer than it was ready to wait.
var ErrLocked = errors.New("locked by another git process")

// call is one run of git.
type call struct {
	args    []string
	stdin   []byte
	config  []Setting
	env     []string
	answers []int     // exit codes beside 0 that are answers and no errors
	limit   int64     // of the output, in bytes; 0 is maxOutput
	to      io.Writer // gets the output, all of it, in place of the result; nil: none does
	network bool
}

// run makes one call in r, again while a lock is in the way. A killed git may have left several locks.
func (r Repo) run(ctx context.Context, c call) (proc.Result, error) {
	broken := map[string]bool{}
	for attempt := 0; ; attempt++ {
		result, err := r.runOnce(ctx, c)
		lock, busy := contendedLock(err)
		if !busy {
			return result, err
		}
		if delay := lockDelays[min(attempt, len(lockDelays)-1)]; attempt < len(lockDelays) || r.outlived(lock) {
			if !sleep(ctx, delay) {
				return result, fmt.Errorf("%w: %w", ErrLocked, err)
			}
			continue
		}
		if broken[lock] || !r.breakLock(lock) {
			return result, fmt.Errorf("%w: %w", ErrLocked, err)
		}
		broken[lock] = true
	}
}

func (r Repo) runOnce(ctx context.Context, c call) (proc.Result, error) {
	command := proc.Command{
		Args: append([]string{r.git.path}, c.args...), Dir: r.workingDir(),
		Env: r.environment(c), Stdin: c.stdin, Timeout: localTimeout, MaxOutput: maxOutput, Stdout: c.to,
		Lasting: !r.private, // what is begun in somebody's checkout is better finished than left half done
	}
	if c.network {
		command.Timeout = networkTimeout
	}
	if c.limit > 0 {
		command.MaxOutput = c.limit
	}
	r.git.calls.Add(1)
	result, err := proc.Run(ctx, command)
	result.Stderr = []byte(r.redact(c, string(result.Stderr))) // before anybody cuts it: half of a token is not found
	if errors.Is(err, proc.ErrNotFound) {
		err = fmt.Errorf("%w: install git %s or newer, or add its folder to PATH", err, Oldest)
	}
	if err != nil {
		return result, fmt.Errorf("git %s in %s: %w", c.args[0], r.name(), err)
	}
	if result.Truncated && c.limit == 0 {
		return result, fmt.Errorf("git %s in %s: the answer is larger than %d MiB", c.args[0], r.name(), maxOutput>>20)
	}
	if result.Exit == 0 || slices.Contains(c.answers, result.Exit) {
		return result, nil
	}
	return result, &Error{Args: c.args, Dir: r.name(), Exit: result.Exit, Stderr: tail(result.Stderr)}
}

func tail(said []byte) string {
	if len(said) > maxMessage {
		said = said[len(said)-maxMessage:]
	}
	return strings.ToValidUTF8(string(said), "\ufffd")
}

// text runs a call whose answer is one line.
func (r Repo) text(ctx context.Context, args ...string) (string, error) {
	result, err := r.run(ctx, call{args: args})
	return strings.TrimRight(string(result.Stdout), "\n"), err
}
