package git

import (
	"testing"
	"testing/fstest"
)

// What git, or a repository that somebody else wrote, says is read or refused, never more.
func FuzzParse(f *testing.F) {
	const id = "977e1f4cd0b98ce4f7dbe70b014f494ab2c5ed1f"
	f.Add("# branch.oid " + id + "\x001 .M N... 100644 100644 100644 a b c d\x00? x/\x00")
	f.Add(id + " " + id + "\x00\n:100644 000000 0cfb 0000 D\x00d/b\x000\t1\td/b\x00")
	f.Add("refs/heads/a\x00" + id + "\x00" + id + "\x00\x00ahead 1, behind 2\x00/w\x00\n")
	f.Add("ref: refs/heads/a\n")
	f.Add(id + " refs/heads/a\n")
	f.Fuzz(func(t *testing.T, said string) {
		_, _ = parseStatus(said)
		_, _ = parseRefs(said)
		_ = parseLog(said)
		_, _ = parsePush(said, "refs/heads/a")
		_, _ = parseVersion(said)
		if tree, all, err := parseComparisons(said); err == nil && len(all) == 0 && tree != "" {
			t.Errorf("a tree %q of nothing", tree)
		}
		dir := fstest.MapFS{"HEAD": {Data: []byte(said)}, "packed-refs": {Data: []byte(said)}, "refs/heads/a": {Data: []byte(said)}}
		if got, err := ReadRef(dir, "refs/heads/a"); err == nil && got != "" && !IsObjectID(got) {
			t.Errorf("read %q", got)
		}
		if branch, detached, err := HeadBranch(dir); err == nil && CheckRef(branch) != nil && !IsObjectID(detached) {
			t.Errorf("HEAD is %q, %q", branch, detached)
		}
	})
}
