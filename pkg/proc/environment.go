package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// Marker is the environment variable that every process of a job carries; its value is [Job.Execution].
const Marker = "BACKBURNER_EXECUTION"

// Mark makes a [Job.Execution] of the id of an execution and its folder. The id alone is not enough: what is kept elsewhere on this machine
// may have one of the same name, and then the end of one job would be that of the other.
func Mark(id, dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	sum := sha256.Sum256([]byte(dir))
	return id + "." + hex.EncodeToString(sum[:6])
}

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

// Unprivileged are variables for a job in a checkout that is not to act for the user: they switch off what would let a program push
// although it has neither token nor agent (helpers of git's configuration, SSH keys in the home directory, the login of gh), and keep git from
// taking a repository around the checkout for that of the job. folder is the job's own.
func Unprivileged(checkout, folder string) []string {
	return []string{
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", // also keeps git from asking core.askPass
		"GIT_SSH_COMMAND=false",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=", // empties the list
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(checkout),
		"GH_CONFIG_DIR=" + filepath.Join(folder, "gh"),
	}
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
