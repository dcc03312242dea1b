package git

import (
	"context"
	"strings"
)

// PushURL is where git would push for the remote of that name, as the repository and its user configured it; "" when there is no such remote.
func (r Repo) PushURL(ctx context.Context, remote string) (string, error) {
	if err := CheckBranch(remote); err != nil { // remotes are named like branches
		return "", err
	}
	result, err := r.run(ctx, call{args: []string{"remote", "get-url", "--push", remote}, answers: []int{2}})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(result.Stdout)), nil
}
