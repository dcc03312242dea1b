package git_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/git"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "nothing": "nothing",
		"'https://host/a.git'":            "'https://host/a.git'",
		"'https://ghp_1@host/a.git' here": "'https://[redacted]@host/a.git' here",
		"HTTP://jo:p@ss@host:80/a.git":    "HTTP://[redacted]@host:80/a.git",
		"ssh://git@host/a":                "ssh://git@host/a",
		"ssh://git:pass@host/a":           "ssh://[redacted]@host/a",
		"git@host:a/b":                    "git@host:a/b",
		"https://host/@team/a":            "https://host/@team/a",
		"https://a@b/c and ssh://d:e@f/g": "https://[redacted]@b/c and ssh://[redacted]@f/g",
		"> Authorization: Basic abc\r\nx": "> Authorization: [redacted]\r\nx",
		"authorization: bearer a b":       "authorization: [redacted]",
	} {
		if got := git.Redact(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A token is given to git in an address or in a header. Whatever git says, and whatever a server that was given it has to say, it is in no
// error and no answer.
func TestNoTokenIsTold(t *testing.T) {
	t.Parallel()
	const token = "s3cr3t-t0ken"
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
	dir, head := repository(t)
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			if status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Basic realm=shop")
			}
			w.WriteHeader(status)
			user, password, _ := r.BasicAuth()
			fmt.Fprintf(w, "refused\n%s you sent %s, which is %s %s\n", strings.Repeat("x", 4000), r.Header.Get("Authorization"), user, password)
		}))
		defer server.Close()
		host := strings.TrimPrefix(server.URL, "http://")
		for name, tc := range map[string]struct{ url, header string }{
			"user":           {url: "http://" + token + "@" + host + "/x.git"},
			"password":       {url: "http://jo:" + token + "@" + host + "/x.git"},
			"encoded":        {url: "http://jo:" + strings.ReplaceAll(token, "-", "%2D") + "@" + host + "/x.git"},
			"no address":     {url: "http://j o:" + token + "/x@" + host + "/x.git"},
			"nobody there":   {url: "http://jo:" + token + "@127.0.0.1:1/x.git"},
			"git's protocol": {url: "git://jo:" + token + "@127.0.0.1:1/x.git"},
			"header":         {url: server.URL + "/x.git", header: "Authorization: Basic " + basic},
			"bearer":         {url: server.URL + "/x.git", header: "Authorization: Bearer " + token},
		} {
			repo := git.New(git.Options{NetworkConfig: func() []git.Setting {
				return []git.Setting{{Key: "http." + server.URL + "/.extraHeader", Value: tc.header}}
			}}).Foreign(filepath.Join(dir, ".git"))
			_, asked := repo.RemoteRefs(context.Background(), tc.url, "refs/heads/a")
			fetched := repo.Fetch(context.Background(), tc.url, git.Refspec{From: "refs/heads/a", To: "refs/heads/b"})
			result, said, pushed := repo.Push(context.Background(), tc.url, "refs/heads/a", head, git.ZeroID(head))
			for _, err := range []error{asked, fetched, pushed} {
				var failed *git.Error
				if !errors.As(err, &failed) {
					t.Fatalf("%d %s: %v %s %s", status, name, err, result, said)
				}
				whole := fmt.Sprintf("%v %+v %s", err, *failed, said)
				for _, secret := range []string{token, basic, base64.StdEncoding.EncodeToString([]byte("jo:" + token)), base64.StdEncoding.EncodeToString([]byte(token + ":")), "2Dt0ken"} {
					if strings.Contains(whole, secret) {
						t.Errorf("%d %s: %s is in %s", status, name, secret, whole)
					}
				}
			}
		}
	}
}
