package proc

import "strings"

// Marker is the environment variable that every process of a job carries; its value is the id of the execution.
const Marker = "BACKBURNER_EXECUTION"

// allowed is what every agent needs to find its tools, its own configuration and the network. A name that ends in * stands for
// all names that begin so.
var allowed = []string{
	"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "XDG_*", "SSL_CERT_*",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
}

// forbidden is what would let a job push, or speak for the user: no allow-list brings it back.
var forbidden = []string{
	"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GIT_*",
	"ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL",
}

// Environment chooses from base (as of os.Environ) what a job may see: what programs need to work (home, PATH, locale,
// temporary and XDG directories, proxies, certificates) and the names in allow, which may end in * ("NPM_*"; a lone * is no
// pattern). Tokens of GitHub, the SSH agent, askpass programs and GIT_* never pass, whatever allow says. TERM is always "dumb".
// Of a name given twice, the last value counts.
func Environment(base, allow []string) []string {
	last := make(map[string]int, len(base))
	for i, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		last[name] = i
	}
	var env []string
	for i, entry := range base {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "TERM" || last[name] != i || matches(forbidden, name) {
			continue
		}
		if matches(allowed, name) || matches(allow, name) {
			env = append(env, entry)
		}
	}
	return append(env, "TERM=dumb")
}

func matches(patterns []string, name string) bool {
	for _, pattern := range patterns {
		prefix, wild := strings.CutSuffix(pattern, "*")
		if pattern == name || wild && prefix != "" && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
