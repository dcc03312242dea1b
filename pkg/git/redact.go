package git

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const redacted = "[redacted]"

var (
	// userinfo is what stands before the host in an address.
	userinfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s'"<>/]*@`) })
	header   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(authorization:[ \t]*)[^\r\n]+`) })
)

// Redact is a text without what in addresses and headers lets somebody in. A user alone is that for the web, where it may be a token, and not
// for ssh.
func Redact(text string) string {
	text = userinfo().ReplaceAllStringFunc(text, func(found string) string {
		scheme, user, _ := strings.Cut(found, "://")
		if !strings.Contains(user, ":") && !strings.HasPrefix(strings.ToLower(scheme), "http") {
			return found
		}
		return scheme + "://" + redacted + "@"
	})
	return header().ReplaceAllString(text, "${1}"+redacted)
}

// redact is what was said in a call without what was given to it in confidence: git, or the other side, may say it again.
func (r Repo) redact(c call, said string) string {
	if said == "" {
		return ""
	}
	settings := c.config
	if c.network {
		settings = slices.Concat(settings, r.git.networkConfig())
	}
	for _, secret := range secrets(settings) {
		said = strings.ReplaceAll(said, secret, redacted)
	}
	return Redact(said)
}

// leastSecret is how long a secret is at least: shorter ones are as likely other words.
const leastSecret = 8

// secrets are the tokens and passwords in settings, in all ways in which they may be written, the longest first.
func secrets(settings []Setting) (all []string) {
	for _, s := range settings {
		if words := strings.Fields(s.Value); len(words) > 0 && strings.HasSuffix(strings.ToLower(s.Key), ".extraheader") {
			token := words[len(words)-1]
			all = append(all, token)
			if login, err := base64.StdEncoding.DecodeString(token); err == nil {
				_, password, _ := strings.Cut(string(login), ":")
				all = append(all, password)
			}
		}
		_, rest, _ := strings.Cut(s.Value, "://")
		at := strings.LastIndexByte(rest, '@')
		if at < 0 {
			continue
		}
		for _, login := range []string{rest[:at], unescaped(rest[:at])} {
			user, password, both := strings.Cut(login, ":")
			if !both && strings.HasPrefix(strings.ToLower(s.Value), "http") {
				password = user
			}
			for _, sent := range []string{login, login + ":"} {
				all = append(all, base64.StdEncoding.EncodeToString([]byte(sent)))
			}
			all = append(all, password)
		}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < leastSecret })
	slices.SortFunc(all, func(x, y string) int { return len(y) - len(x) })
	return all
}

func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
