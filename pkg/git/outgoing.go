package git

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Patches writes to w each commit that head has and without have not: a byte 1 on a line of its own (git loses a NUL there), author and
// message with each line indented by two blanks, and the patch without context, also of what git takes for binary. Of a merge it has what
// none of the merged commits has.
func (r Repo) Patches(ctx context.Context, head string, without []string, w io.Writer) error {
	if err := checkIDs(append([]string{head}, without...)...); err != nil {
		return err
	}
	args := []string{
		"log", "--cc", "--no-show-signature", "--no-notes", "--no-decorate", "--format=%x01%n%w(0,2,2)%an <%ae>%n%B",
		"-p", "--text", "-U0", "--inter-hunk-context=0", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short",
		"--src-prefix=a/", "--dst-prefix=b/", head,
	}
	args = append(args, excluded(without)...)
	_, err := r.run(ctx, call{args: append(args, "--"), to: w})
	return err
}

// Large lists the files (their object ids) of at least size bytes that head reaches and without do not.
func (r Repo) Large(ctx context.Context, head string, without []string, size int64) ([]string, error) {
	if err := checkIDs(append([]string{head}, without...)...); err != nil {
		return nil, err
	}
	args := []string{"rev-list", "--objects", "--no-object-names", "--filter-print-omitted", fmt.Sprintf("--filter=blob:limit=%d", size), head}
	said, err := r.text(ctx, append(args, excluded(without)...)...)
	var large []string
	for line := range strings.Lines(said) {
		if id, omitted := strings.CutPrefix(strings.TrimSpace(line), "~"); omitted && IsObjectID(id) {
			large = append(large, id)
		}
	}
	return large, err
}

func excluded(ids []string) (args []string) {
	for _, id := range ids {
		args = append(args, "^"+id)
	}
	return args
}
