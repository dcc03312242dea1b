package git

import (
	"fmt"
	"os"
	"strings"
)

// kept are the inherited GIT_* variables that say where the user's own configuration and certificates are, as HOME does. All others
// are dropped: a caller that is itself a hook would send git into another repository.
var kept = map[string]bool{
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true,
	"GIT_SSL_CAINFO": true, "GIT_SSL_CAPATH": true,
}

// always is set for every call.
var always = []string{
	"LC_ALL=C", "LANGUAGE=",
	"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never",
	"GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_PAGER=cat",
	"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ADVICE=0",
	"GIT_TRACE2=0", "GIT_TRACE2_PERF=0", // may be configured to go where answers are read
	"GIT_PROTOCOL_FROM_USER=0", "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
	// Large files stay the pointers they are in the repository: a checkout never waits for a network.
	"GIT_LFS_SKIP_SMUDGE=1",
	"GIT_DEFAULT_REF_FORMAT=files",
}

// hardening is the configuration of every call. It comes by the environment, which beats every file and is not seen in a process list.
var hardening = []Setting{
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"core.editor", "true"},
	{"sequence.editor", "true"},
	{"core.pager", "cat"},
	{"core.alternateRefsCommand", "true"},
	{"core.fsync", "committed"},
	{"core.quotePath", "false"},
	{"core.safecrlf", "false"},
	{"core.bigFileThreshold", "512m"},
	{"i18n.commitEncoding", "UTF-8"},
	{"i18n.logOutputEncoding", "UTF-8"},
	{"color.ui", "false"},
	{"diff.external", ""},
	{"diff.orderFile", "/dev/null"},
	{"diff.ignoreSubmodules", "all"},
	{"log.showSignature", "false"},
	{"tag.gpgSign", "false"},
	{"push.gpgSign", "false"},
	{"push.followTags", "false"},
	{"push.recurseSubmodules", "no"},
	{"fetch.recurseSubmodules", "false"},
	{"fetch.writeCommitGraph", "false"},
	{"fetch.prune", "false"},
	{"transfer.bundleURI", "false"},
	{"submodule.recurse", "false"},
	{"protocol.ext.allow", "never"},
	{"protocol.version", "2"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"rerere.enabled", "false"},
	{"safe.bareRepository", "explicit"},
}

// private is added for repositories that only backburner uses: fetches arrive as packs, nothing keeps a journal of references, and an index
// is one file that can be copied.
var private = []Setting{
	{"core.untrackedCache", "false"},
	{"core.splitIndex", "false"},
	{"transfer.unpackLimit", "1"},
	{"fetch.unpackLimit", "1"},
	{"core.logAllRefUpdates", "false"},
}

// cleanEnvironment is environ (nil: that of this process) without the variables that steer git, and the ssh command the user asked for in it.
func cleanEnvironment(environ []string) (clean []string, ssh string) {
	if environ == nil {
		environ = os.Environ()
	}
	clean = make([]string, 0, len(environ)+len(always))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if name == "GIT_SSH_COMMAND" {
			ssh = value
		}
		if !steersGit(name) {
			clean = append(clean, entry)
		}
	}
	return append(clean, always...), ssh
}

func steersGit(name string) bool {
	if strings.HasPrefix(name, "GIT_") {
		return !kept[name]
	}
	switch name {
	case "EDITOR", "VISUAL", "PAGER", "LESS", "LC_ALL", "LANGUAGE", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GCM_INTERACTIVE", "PREFIX":
		return true
	}
	return false
}

// quotePath writes a path as an element of a list of paths.
func quotePath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// environment is the complete environment of one call.
func (r Repo) environment(c call) []string {
	env := append(make([]string, 0, len(r.git.environ)+2*len(hardening)+16), r.git.environ...)
	if r.dir != "" {
		env = append(env, "GIT_DIR="+r.dir)
	}
	if r.workTree != "" {
		env = append(env, "GIT_WORK_TREE="+r.workTree)
	}
	if r.borrowed != "" {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotePath(r.borrowed))
	}
	if r.index != "" {
		env = append(env, "GIT_INDEX_FILE="+r.index)
	}
	settings := append([]Setting{}, hardening...)
	if r.private {
		settings = append(settings, private...)
	}
	settings = append(settings, Setting{"commit.gpgSign", fmt.Sprint(r.sign)})
	settings = append(settings, c.config...)
	if c.network {
		settings = append(settings, Setting{"http.lowSpeedLimit", "1000"}, Setting{"http.lowSpeedTime", "60"})
		settings = append(settings, r.git.networkConfig()...)
	} else {
		settings = append(settings, Setting{"credential.helper", ""})
	}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.Value))
	}
	env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	return append(env, c.env...)
}
