package cmd

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A disk is what a power loss would leave of the files that a traced run
// changed, by the letter of POSIX: the content of a file that was synced since it
// was written, under a name whose folder was synced since it was given.
type disk struct {
	content map[string]bool   // by path: written and not synced since
	name    map[string]bool   // by path: made or renamed, and its folder not synced since
	made    []string          // in order
	faults  map[string]string // the first time each was met, by what is not durable
}

// vital are files that the state relies on, or that people do: state is only
// written when all of these that were made are durable.
var vital = regexp.MustCompile(`/git/(objects/[0-9a-f]{2}/[0-9a-f]{38}|objects/pack/pack-.*\.(pack|idx)|refs/.*|HEAD|config)$` +
	`|/shop/\.git/(objects/[0-9a-f]{2}/[0-9a-f]{38}|objects/pack/pack-.*\.(pack|idx)|refs/heads/.*)$` +
	`|/executions/[^/]*/(execution|exit)\.json$|/requests/[^/]*\.json$|/workstreams/[^/]*\.json$`)

var (
	recordsState = regexp.MustCompile(`/workstreams/[^/]*\.json$`)
	refsFolder   = regexp.MustCompile(`/(shop/\.git|git)/refs(/.*)?$`)
	objectFile   = regexp.MustCompile(`/objects/[0-9a-f]{2}/[0-9a-f]{38}$|/objects/pack/pack-.*\.(pack|idx)$`)
	notOurs      = regexp.MustCompile(`/\.backburner/(workspaces|pools|tmp|aside)/|/\.tmp-|\.lock$|\.tmp-|/tmp_`)
)

func newDisk() *disk {
	return &disk{content: map[string]bool{}, name: map[string]bool{}, faults: map[string]string{}}
}

// made under a name.
func (d *disk) create(path string) {
	d.name[path] = true
	d.made = append(d.made, path)
}

func (d *disk) rename(from, to string) {
	d.content[to] = d.content[from]
	delete(d.content, from)
	delete(d.name, from)
	d.create(to)
	if recordsState.MatchString(to) {
		d.check(to, func(path string) bool { return vital.MatchString(path) && path != to })
	}
}

func (d *disk) sync(path string) {
	if refsFolder.MatchString(path) && !strings.HasSuffix(path, ".lock") {
		d.check(path, objectFile.MatchString) // a reference that lasts names objects that do
	}
	delete(d.content, path)
	for name := range d.name {
		if filepath.Dir(name) == path {
			delete(d.name, name)
		}
	}
}

// check notes what is not durable yet and has to be when then is written.
func (d *disk) check(then string, has func(path string) bool) {
	for _, path := range d.made {
		if !filepath.IsAbs(path) || notOurs.MatchString(path) || !has(path) { // relative are those of agents
			continue
		}
		if d.content[path] {
			d.fault("the content of "+path, then)
		}
		for at := path; len(at) > 1; at = filepath.Dir(at) {
			if d.name[at] {
				d.fault("the name "+at, then)
			}
		}
	}
}

func (d *disk) fault(what, then string) {
	if d.faults[what] == "" {
		d.faults[what] = fmt.Sprintf("%s is not durable when %s is made so", what, then)
	}
}

var (
	callOpen   = regexp.MustCompile(`openat\([^"]*"[^"]*", ([A-Z_|]*O_CREAT[A-Z_|]*), \d+\) += \d+<([^>]+)>`)
	callWrite  = regexp.MustCompile(`(?:write|pwrite64|ftruncate)\(\d+<(/[^>]+)>.*= \d+`)
	callSync   = regexp.MustCompile(`(?:fsync|fdatasync)\(\d+<(/[^>]+)>\) += 0`)
	callRename = regexp.MustCompile(`(?:rename|renameat|renameat2|link|linkat)\((?:[^"<]*(?:<([^>]*)>)?, )?"([^"]*)", (?:[^"<]*(?:<([^>]*)>)?, )?"([^"]*)".*\) += 0`)
	callMkdir  = regexp.MustCompile(`mkdir(?:at)?\((?:[^"<]*(?:<([^>]*)>)?, )?"([^"]*)".*\) += 0`)
)

// replay reads what strace said.
func (d *disk) replay(line string) {
	in := func(dir, path string) string {
		if filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
		return filepath.Join(dir, path)
	}
	if m := callOpen.FindStringSubmatch(line); m != nil {
		d.create(m[2])
	} else if m := callWrite.FindStringSubmatch(line); m != nil {
		d.content[m[1]] = true
	} else if m := callSync.FindStringSubmatch(line); m != nil {
		d.sync(m[1])
	} else if m := callRename.FindStringSubmatch(line); m != nil {
		d.rename(in(m[1], m[2]), in(m[3], m[4]))
	} else if m := callMkdir.FindStringSubmatch(line); m != nil {
		d.create(in(m[1], m[2]))
	}
}

var callBegun = regexp.MustCompile(`^(\d+) +(.*) <unfinished \.\.\.>$`)
var callResumed = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)

// whole joins what strace cut in two because another process came between.
func whole(line string, begun map[string]string) string {
	if m := callBegun.FindStringSubmatch(line); m != nil {
		begun[m[1]] = m[2]
		return ""
	}
	if m := callResumed.FindStringSubmatch(line); m != nil {
		return begun[m[1]] + m[2]
	}
	return line
}

// Objects, then the reference that names them, then the state that names both: each is durable before the next, content and
// name, for a checkpoint, a salvage, a publication, a merge, a request and an execution.
func TestDurableInOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time; the race detector has nothing to find in it")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("NOT TESTED: strace is not installed, so nobody looked in which order files are made durable")
	}
	dir := t.TempDir()
	bin := filepath.Dir(program(t))
	if err := os.WriteFile(filepath.Join(dir, "story.sh"), []byte(durableStory), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "trace")
	cmd := exec.Command("sh", "story.sh", strace, log)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + bin + ":" + os.Getenv("PATH"), "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + dir}
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	trace, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	d, begun := newDisk(), map[string]string{}
	lines := bufio.NewScanner(trace)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d.replay(whole(lines.Text(), begun))
	}
	d.check("the end", vital.MatchString)
	for _, fault := range slices.Sorted(maps.Values(d.faults)) {
		t.Error(strings.ReplaceAll(fault, dir, ""))
	}
	for _, want := range []string{`/stores/.*/objects/`, `/refs/backburner/salvage/`, `/requests/`, `/execution.json$`, `/shop/.git/refs/heads/backburner/fix$`, `/shop/.git/refs/heads/main$`} {
		if !slices.ContainsFunc(d.made, regexp.MustCompile(want).MatchString) {
			t.Errorf("the story did not come to %s", want)
		}
	}
}

const durableStory = `set -e
git config --global user.name Jo; git config --global user.email jo@example.org; git config --global init.defaultBranch main
git init -q shop; cd shop
mkdir -p .backburner/specs
echo 'Say hello' > .backburner/specs/fix.md
printf '.backburner/*\n!.backburner/specs\n' > .gitignore
cat > backburner.toml <<'X'
[[repository]]
path = "."
plan_approval = "auto"
[agent.mine]
command = ["sh", "agent.sh"]
[retry]
attempts = 1
X
cat > agent.sh <<'X'
case $BACKBURNER_TASK_KIND in
plan) echo '{"status": "done", "plan": {"summary": "Say hello.", "files": {"create": ["hello.txt"]}, "acceptance_criteria": ["it says hello"]}}' > "$BACKBURNER_RESULT_FILE" ;;
implement) echo half > half.txt; git add .; git commit -q -m half; echo rest > rest.txt
	grep -q 'once more' && exit 0; exit 1 ;;
esac
X
git add .; git commit -q -m first
git checkout -q --detach
for step in tick 'retry fix "once more"' tick 'merge fix' tick; do
	eval "$1" -f --seccomp-bpf -qq -y -s 4096 -A -o "$2" -e trace=openat,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,link,linkat,mkdir,mkdirat backburner $step
done
git show main:rest.txt
`
