package github

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/cli/go-gh/v2/pkg/auth"
	"github.com/cli/go-gh/v2/pkg/config"
)

// login is where requests go, and as whom.
type login struct {
	host  string
	root  *url.URL // nil: as go-gh has it for the host
	token string
	base  http.RoundTripper
}

// findLogin looks where gh looks: GH_TOKEN, GITHUB_TOKEN, GH_ENTERPRISE_TOKEN,
// gh's own configuration, and last the keyring, by way of gh itself.
func findLogin(o Options) (login, error) {
	l, err := findHost(o)
	if err != nil {
		return l, err
	}
	if l.token == "" {
		l.token = tokenFor(l.host, l.root != nil)
	}
	if l.token == "" {
		return l, &Error{Kind: KindAuth, Message: "there is no token for " + l.host, Advice: noToken(l.host)}
	}
	if l.base == nil {
		l.base = network()
	}
	return l, nil
}

// findHost is the login without what it takes to find a token.
func findHost(o Options) (login, error) {
	l := login{host: o.Host, token: o.Token, base: o.Base}
	if o.APIURL != "" {
		root, err := rootOf(o.APIURL)
		if err != nil {
			return l, err
		}
		l.root = root
		l.host = orElse(orElse(l.host, os.Getenv("GH_HOST")), hostOf(root))
	}
	if l.host == "" {
		l.host, _ = auth.DefaultHost()
	}
	return l, nil
}

func noToken(host string) string {
	if auth.IsEnterprise(host) {
		return "set GH_ENTERPRISE_TOKEN, or run: gh auth login --hostname " + host
	}
	return "set GH_TOKEN, or run: gh auth login"
}

// rootOf is the configured root. The token goes there, so it must not go in the
// clear, except to this machine.
func rootOf(configured string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(configured, "/"))
	bad := func(why string) error {
		return &Error{Kind: KindInvalid, Message: "api_url " + configured + " " + why, Advice: "write it as https://api.github.com"}
	}
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, bad("is no web address")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, bad("is more than a host and a path")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, bad("would send the token in the clear")
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hostOf is the host whose interface is at a root, by the name that people and
// gh know it by.
func hostOf(root *url.URL) string {
	name := strings.ToLower(root.Hostname())
	if rest, ok := strings.CutPrefix(name, "api."); ok && (rest == "github.com" || strings.HasSuffix(rest, ".ghe.com")) {
		return rest
	}
	return name
}

// tokenFor is the token for a host. Where the address was configured, a token
// in GH_TOKEN is meant for it, whatever its host is called.
func tokenFor(host string, configured bool) string {
	if token, _ := auth.TokenFromEnvOrConfig(host); token != "" {
		return token
	}
	if configured {
		if token := orElse(os.Getenv("GH_TOKEN"), os.Getenv("GITHUB_TOKEN")); token != "" {
			return token
		}
	}
	token, _ := auth.TokenForHost(host)
	return token
}

// network is how requests are sent: by the socket that gh is configured to use,
// if any.
func network() http.RoundTripper {
	socket := ""
	if cfg, err := config.Read(nil); err == nil {
		socket, _ = cfg.Get([]string{"http_unix_socket"})
	}
	if socket == "" {
		return http.DefaultTransport
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true}
}
