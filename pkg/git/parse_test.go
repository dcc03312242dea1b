package git

import (
	"reflect"
	"slices"
	"testing"
	"testing/fstest"
)

func TestCheckBranch(t *testing.T) {
	for name, good := range map[string]bool{
		"main": true, "backburner/ws-1": true, "a.b/c#1+2,x": true, "ünïcode": true,
		"": false, "-x": false, "--output=pwn": false, "a/-x": false, "HEAD": false, "refs/heads/x": false, "a..b": false, "a b": false, "a~1": false,
		"a^": false, "a:b": false, "a?": false, "a*": false, "a[": false, `a\b`: false, "a@{1}": false, "a//b": false, "/a": false, "a/": false, ".a": false,
		"a/.b": false, "a.": false, "a.lock": false, "a.lock/b": false, "a\nb": false, "a\x00b": false, "a\x7fb": false,
	} {
		if err := CheckBranch(name); (err == nil) != good {
			t.Errorf("CheckBranch(%q) = %v, want good: %v", name, err, good)
		}
	}
}

func TestIsObjectID(t *testing.T) {
	for id, good := range map[string]bool{
		"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391": true, "E69DE29BB2D1D6434B8B29AE775AD8C2E48C5391": false, "e69de29": false, "": false,
		"--output=e69de29bb2d1d6434b8b29ae775ad8c2": false, "g69de29bb2d1d6434b8b29ae775ad8c2e48c5391": false,
		"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813": true,
	} {
		if IsObjectID(id) != good {
			t.Errorf("IsObjectID(%q) is not %v", id, good)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for said, want := range map[string]Version{
		"git version 2.39.5": {2, 39}, "git version 2.39.5 (Apple Git-154)": {2, 39}, "git version 2.43.0.windows.1": {2, 43}, "git version 3.0.rc1": {3, 0},
	} {
		if got, err := parseVersion(said); err != nil || got != want {
			t.Errorf("parseVersion(%q) = %v, %v", said, got, err)
		}
	}
	if _, err := parseVersion("hub version 2"); err == nil {
		t.Error("nonsense was read")
	}
	if !(Version{2, 38}).Before(Oldest) || (Version{2, 39}).Before(Oldest) || (Version{3, 0}).Before(Oldest) {
		t.Error("versions are compared wrongly")
	}
}

func TestParseStatus(t *testing.T) {
	said := "# branch.oid 1111111111111111111111111111111111111111\x00# branch.head work\x00" +
		"1 .M N... 100644 100644 100644 aaaa bbbb a b.txt\x00" +
		"1 D. N... 100644 000000 000000 aaaa 0000 gone\x00" +
		"u UU N... 100644 100644 100644 100644 aaaa bbbb cccc both\x00" +
		"? --output=x\x00? -rf\x00? nested/\x00? new\nline\x00"
	got, err := parseStatus(said)
	want := Status{
		Head: "1111111111111111111111111111111111111111", Branch: "work",
		Entries: []StatusEntry{
			{"a b.txt", ".M", false}, {"gone", "D.", false}, {"both", "UU", false},
			{"--output=x", "??", false}, {"-rf", "??", false}, {"nested", "??", true}, {"new\nline", "??", false},
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parseStatus = %+v, %v", got, err)
	}
	if got, err := parseStatus(""); err != nil || len(got.Entries) != 0 {
		t.Errorf("nothing was read as %+v, %v", got, err)
	}
	if _, err := parseStatus("7 what\x00"); err == nil {
		t.Error("an unknown line was accepted")
	}
}

func TestParseComparisons(t *testing.T) {
	const commit = "977e1f4cd0b98ce4f7dbe70b014f494ab2c5ed1f"
	said := commit + " 1818edc9cf07022f0a84f42009b234568264974b\x00\n" +
		":000000 100644 0000 20b5 A\x00bin\tx\x00:100644 000000 0cfb 0000 D\x00d/b\x00-\t-\tbin\tx\x000\t1\td/b\x00" +
		commit + " 1818edc9cf07022f0a84f42009b234568264974b\x00"
	tree, got, err := parseComparisons(said)
	if err != nil || tree != "1818edc9cf07022f0a84f42009b234568264974b" || len(got) != 2 {
		t.Fatalf("tree %s, %+v, %v", tree, got, err)
	}
	want := []Change{
		{Path: "bin\tx", Status: 'A', OldMode: "000000", NewMode: "100644", Object: "20b5", Binary: true},
		{Path: "d/b", Status: 'D', OldMode: "100644", NewMode: "000000", Object: "0000", Deleted: 1},
	}
	if !reflect.DeepEqual(got[0].Changes, want) || got[0].Hash == "" {
		t.Errorf("changes %+v", got[0])
	}
	if len(got[1].Changes) != 0 || got[1].Hash != "" {
		t.Errorf("no difference was read as %+v", got[1])
	}
	for _, bad := range []string{":1 2 3 4 A\x00x\x00", "x y\x00:1 2\x00x\x00", "x y\x001\t2\tunknown\x00"} {
		if _, _, err := parseComparisons(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestParsePush(t *testing.T) {
	const ref = "refs/heads/x"
	for line, want := range map[string]PushResult{
		"To url\n \taaa:refs/heads/x\tabc..def\nDone\n":                                 Pushed,
		"To url\n*\taaa:refs/heads/x\t[new branch]\nDone\n":                             Pushed,
		"To url\n+\taaa:refs/heads/x\tabc...def (forced update)\nDone\n":                Pushed,
		"To url\n=\taaa:refs/heads/x\t[up to date]\nDone\n":                             AlreadyThat,
		"To url\n!\taaa:refs/heads/x\t[rejected] (stale info)\nDone\n":                  LeaseFailed,
		"To url\n!\taaa:refs/heads/x\t[remote rejected] (pre-receive hook declined)\n":  PushRefused,
		"To url\n!\taaa:refs/heads/x\t[remote rejected] (failed to update ref)\nDone\n": LeaseFailed,
		"fatal: could not read\n":                                                       "",
	} {
		if got, _ := parsePush(line, ref); got != want {
			t.Errorf("parsePush(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestIsSSH(t *testing.T) {
	for url, want := range map[string]bool{
		"git@github.com:a/b.git": true, "ssh://git@host/a": true, "host:a": true, "https://host/a": false, "file:///a": false, "/a:b": false, "./a:b": false, "a/b:c": false,
	} {
		if isSSH(url) != want {
			t.Errorf("isSSH(%q) is not %v", url, want)
		}
	}
}

func TestClash(t *testing.T) {
	if !clash([]string{"d/e/x"}, []string{"a", "d"}) || clash([]string{"d/x"}, []string{"d/y", "da"}) || clash([]string{"a"}, []string{"a/b"}) {
		t.Error("clashes are not seen")
	}
}

func TestReadRefs(t *testing.T) {
	const one, two = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	dir := fstest.MapFS{
		"HEAD":               {Data: []byte("ref: refs/heads/main\n")},
		"refs/heads/main":    {Data: []byte(one + "\n")},
		"refs/heads/alias":   {Data: []byte("ref: refs/heads/packed\n")},
		"refs/heads/loop":    {Data: []byte("ref: refs/heads/loop\n")},
		"refs/heads/outside": {Data: []byte("ref: ../../etc/passwd\n")},
		"refs/heads/x/y":     {Data: []byte(two + "\n")},
		"refs/heads/z.lock":  {Data: []byte(two + "\n")},
		"packed-refs":        {Data: []byte("# pack-refs with: peeled\n" + two + " refs/heads/packed\n^" + one + "\n" + two + " refs/heads/main\n")},
	}
	for name, want := range map[string]string{
		"refs/heads/main": one, "refs/heads/packed": two, "refs/heads/alias": two, "refs/heads/none": "", "refs/heads/x": "", "refs/heads/x/y": two,
	} {
		if got, err := ReadRef(dir, name); err != nil || got != want {
			t.Errorf("ReadRef(%s) = %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"refs/heads/loop", "refs/heads/outside"} {
		if got, err := ReadRef(dir, name); err == nil {
			t.Errorf("ReadRef(%s) = %s", name, got)
		}
	}
	all, err := AllRefs(dir, Heads)
	want := map[string]string{
		"refs/heads/main": one, "refs/heads/packed": two, "refs/heads/alias": two, "refs/heads/x/y": two,
	}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("AllRefs = %v, %v", all, err)
	}
	if branch, detached, err := HeadBranch(dir); branch != "refs/heads/main" || detached != "" || err != nil {
		t.Errorf("HeadBranch = %s, %s, %v", branch, detached, err)
	}
	dir["HEAD"] = &fstest.MapFile{Data: []byte(one)}
	if branch, detached, err := HeadBranch(dir); branch != "" || detached != one || err != nil {
		t.Errorf("HeadBranch = %s, %s, %v", branch, detached, err)
	}
	dir["HEAD"] = &fstest.MapFile{Data: []byte("ref: /etc/passwd")}
	if _, _, err := HeadBranch(dir); err == nil {
		t.Error("a HEAD that is none was read")
	}
}

func TestCleanEnvironment(t *testing.T) {
	env, ssh := cleanEnvironment([]string{
		"PATH=/bin", "GIT_DIR=/evil", "GIT_INDEX_FILE=/evil", "GIT_CONFIG_PARAMETERS='core.editor'='evil'", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x", "GIT_SSH_COMMAND=ssh -i key",
		"GIT_EXTERNAL_DIFF=evil", "EDITOR=evil", "LC_ALL=de_DE", "GIT_CONFIG_GLOBAL=/home/.gitconfig", "HTTPS_PROXY=p",
	})
	for _, want := range []string{"PATH=/bin", "GIT_CONFIG_GLOBAL=/home/.gitconfig", "HTTPS_PROXY=p", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, entry := range env {
		for _, bad := range []string{"GIT_DIR=/evil", "GIT_INDEX_FILE=/evil", "EDITOR=evil", "LC_ALL=de_DE", "GIT_CONFIG_COUNT=1", "GIT_EXTERNAL_DIFF=evil"} {
			if entry == bad {
				t.Errorf("%s was kept", entry)
			}
		}
	}
	if ssh != "ssh -i key" {
		t.Errorf("ssh command %q", ssh)
	}
}
