package config

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// checks are the rules a field's check tag may name. Each gets a text that is not
// empty and has no NUL, and returns what is wrong and what to do, or "".
var checks = map[string]func(string) string{
	"text":           notEmpty,
	"path":           checkPath,
	"inside":         checkInside,
	"glob":           checkGlob,
	"agent_env":      checkAgentEnv,
	"env":            checkEnv,
	"env_name":       checkEnvName,
	"argument":       checkArgument,
	"branch":         checkBranch,
	"ref":            checkRef,
	"remote":         checkRemote,
	"slug":           checkSlug,
	"url":            checkURL,
	"clone_url":      checkCloneURL,
	"author":         checkAuthor,
	"login":          checkLogin,
	"label":          checkLabel,
	"command_prefix": checkCommandPrefix,
	"id_path":        checkIDPath,
	"smithery":       checkSmithery,
	"step":           checkLine,
	"name":           checkName,
}

// listChecks look at a list as a whole. They return the element's index, or -1,
// and what is wrong with it, or "".
var listChecks = map[string]func([]string) (int, string){
	"argv": checkArgv,
}

func checkArgv(argv []string) (int, string) {
	switch {
	case len(argv) == 0:
		return -1, `is empty; write the program and its arguments, such as ["go", "test", "./..."]`
	case argv[0] == "":
		return 0, "the program's name is empty; write the program first"
	case len(argv) == 1 && strings.ContainsAny(argv[0], " \t"):
		return 0, fmt.Sprintf("there is no shell to split %q; write %s", argv[0], tomlList(strings.Fields(argv[0])))
	}
	for i, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return i, "contains a NUL byte; remove it"
		}
	}
	return -1, ""
}

func notEmpty(string) string { return "" }

func checkLine(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "contains a line end or another control character; write one line of text"
	}
	return ""
}

func checkPath(text string) string {
	if strings.HasPrefix(text, "~") && text != "~" && !strings.HasPrefix(text, "~/") {
		return "only ~/ is understood, not another user's ~; write the whole path"
	}
	return checkLine(text)
}

func checkInside(text string) string {
	if filepath.IsAbs(text) || !filepath.IsLocal(text) {
		return fmt.Sprintf("%q leaves the repository; write a path from its root", text)
	}
	return checkLine(text)
}

func checkGlob(pattern string) string {
	switch {
	case strings.HasPrefix(pattern, "/"):
		return fmt.Sprintf("%q starts with /; patterns start at the repository's root, write %q", pattern, strings.TrimLeft(pattern, "/"))
	case strings.HasPrefix(pattern, "!"):
		return fmt.Sprintf("%q negates; that is not understood, list what is meant instead", pattern)
	case strings.ContainsAny(pattern, "{}"):
		return fmt.Sprintf("%q has { }; that is not understood, write one pattern for each alternative", pattern)
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(pattern, "/"), "/") {
		if segment == "." || segment == ".." || segment == "" {
			return fmt.Sprintf("%q has %q between slashes; write the path from the repository's root", pattern, segment)
		}
		if strings.Contains(segment, "**") && segment != "**" {
			return fmt.Sprintf("%q has ** beside other characters; ** stands alone between slashes, as in \"docs/**/*.md\"", pattern)
		}
		if _, err := path.Match(segment, ""); err != nil {
			return fmt.Sprintf("%q is no pattern: %q does not end what it begins; close the [ or put \\ before it", pattern, segment)
		}
	}
	return checkLine(pattern)
}

// checkAgentEnv also takes NAME*, for all names that begin so.
func checkAgentEnv(text string) string {
	name, _, sets := strings.Cut(text, "=")
	if prefix, wild := strings.CutSuffix(name, "*"); wild && !sets && prefix != "" {
		return checkEnv(prefix)
	}
	return checkEnv(text)
}

// withheld is what would let an agent, or the work's code in a gate, act for the
// user; GIT_ is a prefix.
var withheld = []string{
	"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE",
	"ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL",
}

func checkEnv(text string) string {
	name, _, _ := strings.Cut(text, "=")
	if slices.Contains(withheld, name) || strings.HasPrefix(name, "GIT_") {
		return name + " is never given to agents, their servers and gates, as it would let them act for you; remove it"
	}
	return checkEnvName(name)
}

func checkEnvName(name string) string {
	for i, c := range []byte(name) {
		if !(isBareByte(c) && c != '-') || i == 0 && c >= '0' && c <= '9' {
			if looksSecret(name) {
				return "is not a variable's name; write the name of the variable that holds the value, not the value"
			}
			return fmt.Sprintf("%q is not a variable's name; use letters, digits and _", name)
		}
	}
	if name == "" {
		return `has no name before the =; write NAME or NAME=value`
	}
	return ""
}

// looksSecret is true for what may be a secret that was put where the name of its
// variable belongs, and so must not be repeated in a message.
func looksSecret(text string) bool { return len(text) > 16 || strings.Contains(text, "://") }

func checkArgument(text string) string {
	if strings.HasPrefix(text, "-") {
		return fmt.Sprintf("%q would be taken for an option; remove the -", text)
	}
	return checkLine(text)
}

// checkBranch follows git check-ref-format.
func checkBranch(name string) string {
	bad := ""
	switch {
	case strings.HasPrefix(name, "refs/"):
		return fmt.Sprintf("%q is a full ref; write the branch's name, such as \"main\"", name)
	case strings.HasPrefix(name, "-"):
		bad = "starts with -"
	case strings.HasPrefix(name, "/"), strings.HasSuffix(name, "/"), strings.Contains(name, "//"):
		bad = "has a / too many"
	case strings.Contains(name, ".."), strings.HasSuffix(name, "."), strings.HasPrefix(name, "."), strings.Contains(name, "/."):
		bad = "has a . where git allows none"
	case strings.HasSuffix(name, ".lock"), strings.Contains(name, ".lock/"):
		bad = "ends with .lock"
	case strings.Contains(name, "@{"), name == "@":
		bad = "has @ where git allows none"
	case strings.ContainsAny(name, " ~^:?*[\\"), strings.ContainsFunc(name, unicode.IsControl):
		bad = "has a space or one of ~ ^ : ? * [ \\"
	default:
		return ""
	}
	return fmt.Sprintf("%q cannot be a branch: it %s; write the branch's name, such as \"main\"", name, bad)
}

func checkRef(ref string) string {
	name, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok && strings.HasPrefix(ref, "refs/") {
		return fmt.Sprintf("%q is not a branch; write refs/heads/NAME", ref)
	}
	return checkBranch(name)
}

func checkRemote(text string) string {
	if strings.HasPrefix(text, "-") || strings.Contains(text, "::") {
		return fmt.Sprintf("%q is no address of a repository; write a URL, such as https://host/owner/name.git, or a path", text)
	}
	if u, err := url.Parse(text); err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret {
			return "holds a password; take it out, git's credential helpers know it"
		}
	}
	return checkPath(text)
}

func checkSlug(slug string) string {
	owner, name, ok := strings.Cut(slug, "/")
	fits := func(s string) bool {
		return s != "" && !strings.HasPrefix(s, "-") && strings.Trim(s, ".") != "" &&
			!strings.ContainsFunc(s, func(r rune) bool { return r != '.' && (r > unicode.MaxASCII || !isBareByte(byte(r))) })
	}
	if ok && fits(owner) && fits(name) {
		return ""
	}
	if parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(slug, "/"), ".git"), "/"); len(parts) > 2 {
		if short := strings.Join(parts[len(parts)-2:], "/"); checkSlug(short) == "" {
			return fmt.Sprintf("%q is not owner/name; write %q", slug, short)
		}
	}
	return fmt.Sprintf("%q is not owner/name, such as \"acme/shop\"; for a repository on this machine use path", slug)
}

func checkURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Sprintf("%q is no address; write one that starts with https:// or http://", text)
	}
	if u.User != nil {
		return "holds a user or a password; take it out, it would end up in logs"
	}
	return ""
}

func checkCloneURL(text string) string {
	if bad := checkRemote(text); bad != "" {
		return bad
	}
	if !strings.Contains(text, "{slug}") {
		return fmt.Sprintf("%q lacks {slug}, which stands for owner/name; write for example \"https://github.com/{slug}.git\"", text)
	}
	return ""
}

// checkAuthor is as lenient as git, which knows authors such as
// "github-actions[bot] <1+github-actions[bot]@users.noreply.github.com>".
func checkAuthor(text string) string {
	name, rest, ok := strings.Cut(text, "<")
	address, after, closed := strings.Cut(rest, ">")
	if !ok || !closed || after != "" || strings.TrimSpace(name) == "" || strings.Contains(name, ">") ||
		!strings.Contains(address, "@") || strings.ContainsAny(address, "< \t") || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Sprintf("%q is no author; write \"Name <mail@example.org>\"", text)
	}
	return ""
}

func checkLogin(login string) string {
	if name, ok := strings.CutPrefix(login, "@"); ok {
		return fmt.Sprintf("%q starts with @; write %q", login, name)
	}
	name := strings.TrimSuffix(login, "[bot]")
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !isBareByte(byte(r)) }) || name == "" {
		return fmt.Sprintf("%q is no login; write it as it stands after the @, such as \"octocat\" or \"renovate[bot]\"", login)
	}
	return ""
}

func checkLabel(label string) string {
	const longest = 50 // GitHub's limit
	if len([]rune(label)) > longest {
		return fmt.Sprintf("is longer than the %d characters of a label; shorten it", longest)
	}
	if strings.TrimSpace(label) != label || strings.Contains(label, ",") {
		return fmt.Sprintf("%q has a comma, or spaces around it; write the label's name alone", label)
	}
	return checkLine(label)
}

func checkCommandPrefix(text string) string {
	if len(text) < 2 || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return fmt.Sprintf("%q is not one word of two letters or more; write for example \"/backburner\"", text)
	}
	return ""
}

func checkIDPath(text string) string {
	if !strings.Contains(text, "{id}") {
		return fmt.Sprintf("%q lacks {id}, so that all workstreams would share one file; write for example \"docs/work/{id}.md\"", text)
	}
	if wrong := checkInside(text); wrong != "" {
		return wrong
	}
	if plain := path.Clean(text); plain != text {
		return fmt.Sprintf("%q is a roundabout path of a file; write %q", text, plain)
	}
	for _, name := range strings.Split(text, "/") {
		if strings.EqualFold(name, ".git") {
			return fmt.Sprintf("%q is in git's own folder, which is not part of the repository; write another path", text)
		}
	}
	return ""
}

func checkSmithery(text string) string {
	parts := strings.Split(text, "/")
	if len(parts) > 2 || slices.Contains(parts, "") || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return fmt.Sprintf("%q names no connection; write \"namespace/connection\", or the connection alone where the account has one namespace", text)
	}
	return ""
}

// checkName is for the names users give to agents, gates, servers and so on: they
// become parts of file names and of lines people type.
func checkName(name string) string {
	const longest = 64
	if !isBare(name) || len(name) > longest || name[0] == '-' || name[0] == '_' {
		return fmt.Sprintf("cannot be a name; use up to %d letters, digits, - and _, beginning with a letter or digit", longest)
	}
	return ""
}
