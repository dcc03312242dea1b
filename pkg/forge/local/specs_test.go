package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/forge/local"
	"github.com/backburner-cli/backburner/pkg/work"
)

const specsDir = ".backburner/specs"

// longAgo is a time of change that can be trusted.
var longAgo = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func repository(t *testing.T) string {
	t.Helper()
	repo := t.TempDir()
	if err := os.MkdirAll(filepath.Join(repo, specsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	return repo
}

func writeSpec(t *testing.T, repo, name, content string, at time.Time) string {
	t.Helper()
	file := filepath.Join(repo, specsDir, name)
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	return file
}

func specs(t *testing.T, repo string, known map[string]work.SpecFile) ([]forge.Spec, []forge.Problem) {
	t.Helper()
	found, problems, err := local.Specs(context.Background(), repo, specsDir, known)
	if err != nil {
		t.Fatal(err)
	}
	return found, problems
}

func remember(found []forge.Spec, problems []forge.Problem) map[string]work.SpecFile {
	known := map[string]work.SpecFile{}
	for _, s := range found {
		known[s.Path] = work.SpecFile{Size: s.Size, ModTime: s.ModTime, Hash: s.Hash}
	}
	for _, p := range problems {
		known[p.Path] = work.SpecFile{Size: p.Size, ModTime: p.ModTime}
	}
	return known
}

func TestSpecsAreFoundInOrder(t *testing.T) {
	repo := repository(t)
	writeSpec(t, repo, "cart.md", "\xef\xbb\xbf# Show the cart\r\n\r\nAlways.\r\n", longAgo)
	writeSpec(t, repo, "audit.md", "Log every login.\n", longAgo)
	writeSpec(t, repo, ".draft.md", "not yet", longAgo)
	writeSpec(t, repo, "notes.txt", "not a spec", longAgo)
	if err := os.Mkdir(filepath.Join(repo, specsDir, "old"), 0o755); err != nil {
		t.Fatal(err)
	}
	found, problems := specs(t, repo, nil)
	if len(problems) != 0 || len(found) != 2 {
		t.Fatalf("found %+v, problems %v", found, problems)
	}
	want := forge.Spec{ID: "cart", Path: ".backburner/specs/cart.md", Title: "Show the cart", Body: "# Show the cart\n\nAlways.\n",
		Hash: work.SpecHash("Show the cart", "# Show the cart\n\nAlways.\n"), Size: 31, ModTime: longAgo}
	if found[1] != want {
		t.Errorf("found %+v, want %+v", found[1], want)
	}
	if found[0].ID != "audit" || found[0].Title != "Log every login." {
		t.Errorf("found %+v first", found[0])
	}
}

func TestNoFolderHasNoSpecs(t *testing.T) {
	if found, problems := specs(t, t.TempDir(), nil); len(found)+len(problems) != 0 {
		t.Errorf("found %v, problems %v", found, problems)
	}
}

func TestUnchangedSpecsAreNotReadAgain(t *testing.T) {
	repo := repository(t)
	file := writeSpec(t, repo, "cart.md", "Show the cart.", longAgo)
	known := remember(specs(t, repo, nil))
	// Another text of the same size and time shows that the file is not read.
	writeSpec(t, repo, "cart.md", "Hide the cart.", longAgo)
	if found, _ := specs(t, repo, known); len(found) != 0 {
		t.Errorf("found %+v, which is known", found)
	}
	if err := os.Chtimes(file, longAgo, longAgo.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if found, _ := specs(t, repo, known); len(found) != 1 || found[0].Body != "Hide the cart." {
		t.Errorf("found %+v after a change", found)
	}
}

func TestYoungSpecIsReadOnceMore(t *testing.T) {
	repo := repository(t)
	writeSpec(t, repo, "cart.md", "Show the cart.", time.Now().Add(time.Hour)) // however long this test takes
	found, problems := specs(t, repo, nil)
	if len(found) != 1 {
		t.Fatalf("found %v, problems %v", found, problems)
	}
	again, _ := specs(t, repo, remember(found, nil))
	if len(again) != 1 || again[0].Hash != found[0].Hash {
		t.Errorf("found %+v the second time", again)
	}
}

func TestBadSpecsAreProblemsOfTheirOwn(t *testing.T) {
	repo := repository(t)
	dir := filepath.Join(repo, specsDir)
	outside := filepath.Join(repo, "secret.txt")
	must(t, os.WriteFile(outside, []byte("password"), 0o644))
	must(t, os.Symlink(outside, filepath.Join(dir, "leak.md")))
	must(t, os.Symlink("nothing", filepath.Join(dir, "dangling.md")))
	must(t, os.Symlink("loop.md", filepath.Join(dir, "loop.md")))
	must(t, os.Symlink("good.md", filepath.Join(dir, "alias.md")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644))
	must(t, os.Mkdir(filepath.Join(dir, "folder.md"), 0o755))
	writeSpec(t, repo, "good.md", "Do it.", longAgo)
	writeSpec(t, repo, "big.md", strings.Repeat("x", work.MaxSpec+1), longAgo)
	writeSpec(t, repo, "largest.md", strings.Repeat("x", work.MaxSpec), longAgo)
	writeSpec(t, repo, "empty.md", " \n\t\n", longAgo)
	writeSpec(t, repo, "binary.md", "a\x00b", longAgo)
	writeSpec(t, repo, "latin.md", "caf\xe9", longAgo)
	writeSpec(t, repo, "bad name.md", "Do it.", longAgo)
	writeSpec(t, repo, "-f.md", "Do it.", longAgo)

	found, problems := specs(t, repo, nil)
	var ids []string
	for _, s := range found {
		ids = append(ids, s.ID)
	}
	if got := strings.Join(ids, " "); got != "alias good largest" {
		t.Errorf("found %s", got)
	}
	want := map[string]string{
		"-f": "starts with -", "bad name": "cannot be named", "big": "longer than 256 KiB", "binary": "NUL", "dangling": "link to nothing",
		"empty": "is empty", "folder": "not a regular file", "latin": "not UTF-8", "leak": "leads out of the folder", "loop": "link to itself",
		"pipe": "not a regular file",
	}
	for _, p := range problems {
		name := strings.TrimSuffix(filepath.Base(p.Path), ".md")
		if want[name] == "" || !strings.Contains(p.What, want[name]) || p.Next == "" {
			t.Errorf("problem %+v, want one that %q", p, want[name])
		}
		delete(want, name)
		if strings.Contains(p.Error(), "password") {
			t.Errorf("%v tells a secret", p)
		}
	}
	if len(want) != 0 {
		t.Errorf("no problems with %v", want)
	}
	if _, again := specs(t, repo, remember(found, problems)); len(again) != 0 {
		t.Errorf("known problems are told again: %v", again)
	}
}

func TestFolderOfSpecsThatLeadsOut(t *testing.T) {
	repo, outside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "x.md"), []byte("Do it."), 0o644))
	must(t, os.Mkdir(filepath.Join(repo, ".backburner"), 0o755))
	must(t, os.Symlink(outside, filepath.Join(repo, specsDir)))
	found, problems := specs(t, repo, nil)
	if len(found) != 0 || len(problems) != 1 || !strings.Contains(problems[0].What, "leads out of the repository") {
		t.Fatalf("found %v, problems %v", found, problems)
	}
	if _, again := specs(t, repo, remember(nil, problems)); len(again) != 0 {
		t.Errorf("told again: %v", again)
	}
}

func TestSpecsEndsWithItsContext(t *testing.T) {
	repo := repository(t)
	writeSpec(t, repo, "cart.md", "Do it.", longAgo)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := local.Specs(ctx, repo, specsDir, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestReadOneFile(t *testing.T) {
	repo := repository(t)
	file := writeSpec(t, repo, "cart.txt", "# Show the cart\n", longAgo)
	link := filepath.Join(t.TempDir(), "basket.md")
	must(t, os.Symlink(file, link))
	for path, id := range map[string]string{file: "cart", link: "basket"} {
		spec, err := local.Read(path)
		if err != nil || spec.ID != id || spec.Title != "Show the cart" || spec.Path != path {
			t.Errorf("read %s: %+v, %v", path, spec, err)
		}
	}
	fifo := filepath.Join(repo, "pipe.md")
	must(t, syscall.Mkfifo(fifo, 0o644))
	for path, want := range map[string]string{
		fifo:                                    "backburner add -",
		filepath.Join(repo, "gone.md"):          "does not exist: check the path",
		repo:                                    "not a regular file",
		writeSpec(t, repo, "e.md", "", longAgo): "is empty",
	} {
		var problem forge.Problem
		if _, err := local.Read(path); !errors.As(err, &problem) || !strings.Contains(err.Error(), want) {
			t.Errorf("read %s: %v, want %q", path, err, want)
		}
	}
}

func TestReadUnderAnotherName(t *testing.T) {
	file := writeSpec(t, repository(t), "my notes.md", "Do it.", longAgo)
	if _, err := local.Read(file); err == nil {
		t.Error("a bad name is taken for an id")
	}
	if spec, err := local.ReadAs("notes", file); err != nil || spec.ID != "notes" || spec.Title != "Do it." {
		t.Errorf("read %+v, %v", spec, err)
	}
	if _, err := local.ReadAs("../notes", file); err == nil {
		t.Error("a bad id is accepted")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
