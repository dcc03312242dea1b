package github

import (
	"errors"
	"fmt"

	"github.com/cli/go-gh/v2/pkg/repository"
)

// Slug is the repository OWNER/NAME that a git remote's URL names on the GitHub
// that is configured, apiURL being its interface where that was set.
func Slug(url, apiURL string) (string, error) {
	r, err := repository.Parse(url)
	if err != nil {
		return "", errors.New("the address of the remote names no repository on GitHub") // it may have a token in it
	}
	if host := Host(apiURL); r.Host != host {
		return "", fmt.Errorf("%s/%s is on %s and not on %s: set GH_HOST to the one that is meant", r.Owner, r.Name, r.Host, host)
	}
	return r.Owner + "/" + r.Name, nil
}
