//go:build linux && (amd64 || arm64)

package cmd

import (
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/store"
)

// readable checks every file of the state. What is only a leftover is looked
// for by sound.
func (w *worker) readable() error {
	if _, err := os.Stat(w.state()); errors.Is(err, fs.ErrNotExist) {
		return nil // it had not begun
	}
	var bad []error
	for _, p := range store.Verify(w.state()) {
		if !strings.HasPrefix(p.Next, "nothing") {
			bad = append(bad, errors.New(p.String()))
		}
	}
	return errors.Join(bad...)
}

// told says why the user does not know why a tick did not finish: it must have
// ended with another code than 0 and said so, or have noted it where it belongs,
// with the workstream, on its thread or in its own line.
func (w *worker) told(errno syscall.Errno) error {
	where, text := "the tick, which ended with code "+fmt.Sprint(w.run.exitCode()), w.said()
	if w.run.exitCode() == 0 {
		where, text = "no record", ""
		for _, pattern := range []string{"workstreams/greet.json", "workstreams/greet/thread.md", "archive/*/greet.json", "ticks/*.jsonl"} {
			paths, _ := filepath.Glob(filepath.Join(w.state(), pattern))
			for _, path := range paths {
				data, _ := os.ReadFile(path)
				text += string(data)
			}
		}
	}
	if strings.Contains(strings.ToLower(text), errno.Error()) || w.run.do == failChild && causeless.MatchString(text) {
		return nil
	}
	return fmt.Errorf("%s says that there was %q", where, errno)
}

// causeless are words of git that leave out why it failed.
var causeless = regexp.MustCompile(`Out of diskspace|unable to write new.?index|unable to create directory for|failed to write new configuration file|couldn't (write|set|close) '`)

func readInto(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// sound checks what must hold of everything that is there when the job is done:
// that it is readable and whole, that nothing of an agent's is lost, that
// nothing runs, and that nothing lies about.
func (w *worker) sound(s scene) error {
	if err := w.readable(); err != nil {
		return err
	}
	for _, dir := range []string{w.shop(), w.storeDir(), w.workspace()} {
		if _, err := os.Stat(dir); dir == w.workspace() && err != nil {
			continue // it was removed when the work was done
		}
		if _, err := w.git(dir, "fsck", "--no-progress", "--no-dangling"); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err := w.kept(); err != nil {
		return err
	}
	if err := w.quiet(); err != nil {
		return err
	}
	return w.tidy(s)
}

// kept checks that all that agents noted in the ledger can be reached from a
// reference of the store.
func (w *worker) kept() error {
	objects, err := w.git(w.storeDir(), "rev-list", "--objects", "--all")
	if err != nil {
		return err
	}
	ledger, err := os.ReadFile(w.ledger())
	if err != nil {
		return err
	}
	for _, execution := range strings.Fields(string(ledger)) {
		text := "hello " + execution + "\n"
		blob := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
		if !strings.Contains(objects, blob) {
			return fmt.Errorf("what the agent of %s wrote (%s) is in no branch and was not salvaged", execution, blob)
		}
	}
	return nil
}

// quiet checks that no process is left that was started here.
func (w *worker) quiet() error {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	var left []error
	for _, p := range processes {
		cwd, _ := os.Readlink(p + "/cwd")
		environment, _ := os.ReadFile(p + "/environ")
		command, _ := os.ReadFile(p + "/cmdline") // empty when it is dead
		if len(command) > 0 && strings.HasPrefix(cwd+"/", w.at()+"/") ||
			bytes.Contains(environment, []byte(proc.Marker+"=")) && bytes.Contains(environment, []byte(w.at())) {
			left = append(left, fmt.Errorf("%s still runs in %s: %s", p, cwd, bytes.ReplaceAll(command, []byte{0}, []byte(" "))))
		}
	}
	return errors.Join(left...)
}

// tidy checks that there are no files but the usual ones, now or once it is the
// next day.
func (w *worker) tidy(s scene) error {
	extra, err := w.unusual(s)
	if err != nil || len(extra) == 0 {
		return err
	}
	for _, path := range extra {
		yesterday := time.Now().Add(-25 * time.Hour)
		if err := os.Chtimes(filepath.Join(w.shop(), path), yesterday, yesterday); err != nil {
			return err
		}
	}
	_ = os.Remove(filepath.Join(w.state(), "expiry", "state.json")) // else the store was looked through today
	if err := w.backburner("tick"); err != nil {
		return err
	}
	if extra, err = w.unusual(s); err == nil && len(extra) > 0 {
		return fmt.Errorf("left lying about: %s", strings.Join(extra, " "))
	}
	return err
}

// unusual lists the files that an undisturbed run of the scene does not leave.
func (w *worker) unusual(s scene) ([]string, error) {
	var extra []string
	err := eachShape(w.shop(), func(path, shape string) {
		if !w.usual[s.name][shape] && !history.MatchString(shape) {
			extra = append(extra, path)
		}
	})
	return extra, err
}

// history is what a disturbance may leave: records of runs that were cut,
// requests, work that was salvaged or put aside, the draft of a review bundle,
// which the next one takes away, a file by which git init tried the disk, and in a workspace a file of ours whose name the
// next one takes, or an object that the agent's own git had half written.
var history = regexp.MustCompile(`^state/executions/greet\.#/|^aside/|^state/requests/done/|salvage|^state/workstreams/greet/\.review\.#/|^stores/shop/git/t\w{6}$|^workspaces/greet/\.git/(.*\.backburner|objects/[^/]+/tmp_obj_[^/]+)$`)

var (
	object = regexp.MustCompile(`/objects/(../[0-9a-f]{38}|pack/pack-[0-9a-f]+\.\w+|info/\w+)$`)
	number = regexp.MustCompile(`[0-9]+`)
)

// eachShape visits the files of backburner with their names freed of numbers;
// objects of git are left out.
func eachShape(shop string, visit func(path, shape string)) error {
	root := filepath.Join(shop, ".backburner")
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || object.MatchString(path) {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		visit(filepath.Join(".backburner", rel), number.ReplaceAllString(rel, "#"))
		return nil
	})
}
