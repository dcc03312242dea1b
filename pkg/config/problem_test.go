package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/config"
)

// TestEveryKindOfProblem has, for each kind of mistake, the exact words a person
// reads. "backburner.toml:" is left out before each line of want.
func TestEveryKindOfProblem(t *testing.T) {
	load := loader(t)
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key, near miss", "[tick]\nmax_agnts = 3", `2: tick.max_agnts: unknown key; did you mean max_agents?`},
		{"unknown key, dash and case", "[tick]\nMax-Agents = 3", `2: tick.Max-Agents: unknown key; did you mean max_agents?`},
		{"unknown key, of another table", "max_agents = 3", `1: max_agents: unknown key; it belongs in [tick]`},
		{"unknown key, of two tables", "[git]\nwebhook_env = 'X'\nlabels = []", `2: git.webhook_env: unknown key; it belongs in [notify.NAME]
3: git.labels: unknown key; it belongs in [capability.NAME]`},
		{"unknown key, of a list of tables", "slug = 'a/b'", `1: slug: unknown key; it belongs in [[repository]]`},
		{"unknown key, no idea", "[git]\nzzz = 1", `2: git.zzz: unknown key; known here: author, sign`},
		{"unknown key in a sub-table", "[github.labels]\naprove = 'x'", `2: github.labels.aprove: unknown key; did you mean approve?`},
		{"unknown key that needs quotes", "[git]\n\"a b\" = 1", `2: git."a b": unknown key; known here: author, sign`},
		{"unknown key that is dangerous on a terminal", "[git]\n\"\\u001b[2J\" = 1", `2: git."\x1b[2J": unknown key; known here: author, sign`},
		{"unknown table", "[tickk]\nx = 1", `1: tickk: unknown key; did you mean tick?`},

		{"number for a duration", "[tick]\ndeadline = 50", `2: tick.deadline: is the number 50; write a duration in quotes, such as "45m"`},
		{"bad duration", "[tick]\ndeadline = '50'", `2: tick.deadline: "50" is not a duration; write a number with a unit, such as "90s", "45m" or "1h30m"`},
		{"text for a number", "[tick]\nmax_agents = '2'", `2: tick.max_agents: is the text "2"; write a whole number, without quotes`},
		{"fraction for a whole number", "[tick]\nmax_agents = 2.5", `2: tick.max_agents: is the number 2.5; write a whole number, without quotes`},
		{"text for a boolean", "[tick]\nqueue = 'yes'", `2: tick.queue: is the text "yes"; write true or false, without quotes`},
		{"date for text", "[git]\nauthor = 2026-01-01", `2: git.author: is a date; write text in quotes`},
		{"text for money", "[budget]\nday_usd = '5'", `2: budget.day_usd: is the text "5"; write a number, without quotes`},
		{"infinite money", "[budget]\nday_usd = inf", `2: budget.day_usd: is the number +Inf; write a number, without quotes`},
		{"text for a list", "[github]\ntrusted_users = 'bob'", `2: github.trusted_users: is the text "bob", not a list; put it in brackets: trusted_users = ["bob"]`},
		{"number in a list", "[github]\ntrusted_users = [\n'bob',\n5]", `4: github.trusted_users[1]: is the number 5; write text in quotes`},
		{"list for text", "[git]\nauthor = ['x']", `2: git.author: is a list; write text in quotes`},
		{"long text", "[tick]\nqueue = '" + strings.Repeat("x", 100) + "'", `2: tick.queue: is the text "` + strings.Repeat("x", 40) + `..."; write true or false, without quotes`},
		{"text for a table", "tick = 'x'", `1: tick: is the text "x", not a table; write [tick] and its settings below`},
		{"list for a table", "[[tick]]\nqueue = true", `1: tick: is a list of tables, not a table; there is only one; write [tick] with single brackets`},
		{"table for a list of tables", "[repository]\nslug = 'a/b'", `1: repository: is a table, not a list of tables; write [[repository]] with double brackets, as there can be several`},
		{"table for a list of steps", "[gate.fast]\nsteps = { run = ['x'] }", `2: gate.fast.steps: is a table, not a list of tables; write a list of { } tables`},
		{"text for a step", "[gate.fast]\nsteps = ['go vet']", `2: gate.fast.steps[0]: is the text "go vet", not a table; write { name = value, ... }`},
		{"name forgotten", "[agent]\npreset = 'claude'", `2: agent.preset: preset stands directly in [agent]; write [agent.NAME] and put it there, NAME being yours to choose`},
		{"list of agents", "[[agent]]\npreset = 'claude'", `1: agent: is a list of tables, not a table; write [agent.NAME], NAME being yours to choose`},
		{"text for pairs", "[[repository]]\npath = '.'\ngates = 'x'", `3: repository[0].gates: is the text "x", not a table; write { name = "text" }`},
		{"number in pairs", "[[repository]]\npath = '.'\ngates = { full = 1 }", `3: repository[0].gates.full: is the number 1, not text; put it in quotes`},
		{"text in groups", "[gate.fast]\nsteps = [{ name = 'a', run = ['a'] }]\ngroups = ['a']", `3: gate.fast.groups[0]: is the text "a", not a list; put it in brackets: groups = ["a"]`},
		{"required key", "[gate.fast]\nsteps = [\n{ name = 'a' }]", `3: gate.fast.steps[0]: run is missing; add it: command and arguments; there is no shell`},

		{"too little", "[tick]\nmax_active = 0", `2: tick.max_active: 0 is too little; at least 1`},
		{"too much", "[budget]\nalert_percent = 101", `2: budget.alert_percent: 101 is too much; at most 100`},
		{"negative money", "[budget]\nday_usd = -0.5", `2: budget.day_usd: -0.5 is too little; at least 0`},
		{"duration too short", "[tick]\ndeadline = '30s'", `2: tick.deadline: 30s is too little; at least 1m`},
		{"duration too long", "[tick]\ndeadline = '200h'", `2: tick.deadline: 200h is too much; at most 168h`},
		{"negative duration", "[agent.claude]\nidle_timeout = '-5m'", `2: agent.claude.idle_timeout: -5m is too little; at least 0s`},
		{"exit code", "[gate.fast]\nsteps = [{ run = ['a'], retry_codes = [1, 0] }]", `2: gate.fast.steps[0].retry_codes[1]: 0 is too little; at least 1`},
		{"unknown word, near miss", "[[repository]]\npath = '.'\nmerge = 'sqash'", `3: repository[0].merge: "sqash" is not known; did you mean "squash"?`},
		{"unknown word", "[tick]\non_busy = 'panic'", `2: tick.on_busy: "panic" is not known; use "skip", "wait" or "fail"`},
		{"unknown word in a list", "[mainline]\ncheck_before = ['planning', 'merging']", `2: mainline.check_before[1]: "merging" is not known; use "planning", "building" or "qa"`},
		{"NUL in a path", "[state]\ndir = \"a\\u0000b\"", `2: state.dir: contains a NUL byte; remove it`},
		{"NUL in an argument", "[agent.claude]\ncommand = ['a', \"b\\u0000\"]", `2: agent.claude.command[1]: contains a NUL byte; remove it`},
		{"line end in a path", "[state]\ndir = \"a\\nb\"", `2: state.dir: contains a line end or another control character; write one line of text`},
		{"somebody's home", "[workspace]\nroot = '~bob/x'", `2: workspace.root: only ~/ is understood, not another user's ~; write the whole path`},

		{"author", "[git]\nauthor = 'Jane'", `2: git.author: "Jane" is no author; write "Name <mail@example.org>"`},
		{"slug", "[[repository]]\nslug = 'shop'", `2: repository[0].slug: "shop" is not owner/name, such as "acme/shop"; for a repository on this machine use path`},
		{"slug that is an address", "[[repository]]\nslug = 'https://github.com/acme/shop.git'", `2: repository[0].slug: "https://github.com/acme/shop.git" is not owner/name; write "acme/shop"`},
		{"slug like an option", "[[repository]]\nslug = '-x/y'", `2: repository[0].slug: "-x/y" is not owner/name, such as "acme/shop"; for a repository on this machine use path`},
		{"branch", "[[repository]]\npath = '.'\nbase = '-f'", `3: repository[0].base: "-f" cannot be a branch: it starts with -; write the branch's name, such as "main"`},
		{"branch as ref", "[[repository]]\npath = '.'\nbase = 'refs/heads/main'", `3: repository[0].base: "refs/heads/main" is a full ref; write the branch's name, such as "main"`},
		{"state on a tag", "[state]\nbranch = 'refs/tags/x'", `2: state.branch: "refs/tags/x" is not a branch; write refs/heads/NAME`},
		{"remote that runs a program", "[state]\nremote = 'ext::sh -c x'", `2: state.remote: "ext::sh -c x" is no address of a repository; write a URL, such as https://host/owner/name.git, or a path`},
		{"remote with a password", "[state]\nremote = 'https://me:secret@host/x.git'", `2: state.remote: holds a password; take it out, git's credential helpers know it`},
		{"address", "[github]\napi_url = 'ghe.example.org'", `2: github.api_url: "ghe.example.org" is no address; write one that starts with https:// or http://`},
		{"address with a token", "[github]\napi_url = 'https://tok@ghe.example.org'", `2: github.api_url: holds a user or a password; take it out, it would end up in logs`},
		{"clone address with a token", "[github]\nclone_url = 'https://jo:s3cr3t@github.com/acme/shop.git'", `2: github.clone_url: holds a password; take it out, git's credential helpers know it`},
		{"clone address", "[github]\nclone_url = 'git@github.com:acme/shop.git'", `2: github.clone_url: "git@github.com:acme/shop.git" lacks {slug}, which stands for owner/name; write for example "https://github.com/{slug}.git"`},
		{"login", "[github]\ntrusted_users = ['@bob', 'no one']", `2: github.trusted_users[0]: "@bob" starts with @; write "bob"
2: github.trusted_users[1]: "no one" is no login; write it as it stands after the @, such as "octocat" or "renovate[bot]"`},
		{"label", "[github.labels]\nadd = 'a, b'\nhold = '" + strings.Repeat("x", 51) + "'", `2: github.labels.add: "a, b" has a comma, or spaces around it; write the label's name alone
3: github.labels.hold: is longer than the 50 characters of a label; shorten it`},
		{"command prefix", "[github]\ncommand_prefix = 'hey you'", `2: github.command_prefix: "hey you" is not one word of two letters or more; write for example "/backburner"`},
		{"work log", "[[repository]]\npath = '.'\nwork_log = 'log.md'", `3: repository[0].work_log: "log.md" lacks {id}, so that all workstreams would share one file; write for example "docs/work/{id}.md"`},
		{"roundabout", "[[repository]]\npath = '.'\nwork_log = 'docs//{id}/'", `3: repository[0].work_log: "docs//{id}/" is a roundabout path of a file; write "docs/{id}"`},
		{"outside", "[[repository]]\nslug = 'a/b'\nplan_path = '../{id}'", `3: repository[0].plan_path: "../{id}" leaves the repository; write a path from its root`},
		{"in git's folder", "[[repository]]\nslug = 'a/b'\nplan_path = 'x/.Git/{id}'", `3: repository[0].plan_path: "x/.Git/{id}" is in git's own folder, which is not part of the repository; write another path`},
		{"outside the repository", "[forge]\nspecs_dir = '../specs'", `2: forge.specs_dir: "../specs" leaves the repository; write a path from its root`},
		{"glob", "[[repository]]\npath = '.'\nexclusive_areas = ['a/[b', '/x', '!x', '{a,b}', 'a//b', 'x**', '../y', 'fine/**', 'folder/', '*.go']", `3: repository[0].exclusive_areas[0]: "a/[b" is no pattern: "[b" does not end what it begins; close the [ or put \ before it
3: repository[0].exclusive_areas[1]: "/x" starts with /; patterns start at the repository's root, write "x"
3: repository[0].exclusive_areas[2]: "!x" negates; that is not understood, list what is meant instead
3: repository[0].exclusive_areas[3]: "{a,b}" has { }; that is not understood, write one pattern for each alternative
3: repository[0].exclusive_areas[4]: "a//b" has "" between slashes; write the path from the repository's root
3: repository[0].exclusive_areas[5]: "x**" has ** beside other characters; ** stands alone between slashes, as in "docs/**/*.md"
3: repository[0].exclusive_areas[6]: "../y" has ".." between slashes; write the path from the repository's root`},
		{"model like an option", "[agent.claude]\nmodel = '--yolo'", `2: agent.claude.model: "--yolo" would be taken for an option; remove the -`},
		{"empty command", "[agent.claude]\ncommand = []", `2: agent.claude.command: is empty; write the program and its arguments, such as ["go", "test", "./..."]`},
		{"empty program", "[agent.claude]\ncommand = ['']", `2: agent.claude.command[0]: the program's name is empty; write the program first`},
		{"shell line", "[gate.fast]\nsteps = [{ run = ['go vet \"./...\"'] }]", `2: gate.fast.steps[0].run[0]: there is no shell to split "go vet \"./...\""; write ["go", "vet", "\"./...\""]`},
		{"environment", "[agent.claude]\nenv = ['A', 'B=c d', '=x', '1A', 'A-B']", `2: agent.claude.env[2]: has no name before the =; write NAME or NAME=value
2: agent.claude.env[3]: "1A" is not a variable's name; use letters, digits and _
2: agent.claude.env[4]: "A-B" is not a variable's name; use letters, digits and _`},
		{"environment that pushes", "[agent.claude]\nenv = ['NPM_*', '*', 'GH_TOKEN=ghp_x', 'SSH_AUTH_SOCK']\n[gate.full]\nsteps = [{ run = ['a'], env = ['GIT_DIR=x', 'A_*'] }]", `2: agent.claude.env[1]: "*" is not a variable's name; use letters, digits and _
2: agent.claude.env[2]: GH_TOKEN is never given to agents, their servers and gates, as it would let them act for you; remove it
2: agent.claude.env[3]: SSH_AUTH_SOCK is never given to agents, their servers and gates, as it would let them act for you; remove it
4: gate.full.steps[0].env[0]: GIT_DIR is never given to agents, their servers and gates, as it would let them act for you; remove it
4: gate.full.steps[0].env[1]: "A_*" is not a variable's name; use letters, digits and _`},
		{"secret instead of a name", "[notify.slack]\nwebhook_env = 'https://hooks.slack.com/services/T0/B0/x'", `2: notify.slack.webhook_env: is not a variable's name; write the name of the variable that holds the value, not the value`},
		{"name of a table", "[agent.\"a/b\"]\npreset = 'claude'", `1: agent."a/b": cannot be a name; use up to 64 letters, digits, - and _, beginning with a letter or digit`},

		{"hours without zone", "[budget]\nhours = '20:00-07:00'", `2: budget.hours: "20:00-07:00" has no time zone; add one, such as Europe/Berlin, UTC, or Local for this machine's`},
		{"hours with an unknown zone", "[budget]\nhours = '20:00-07:00 Europe/Berln'", `2: budget.hours: "Europe/Berln" is not a known time zone; write one such as Europe/Berlin, America/New_York or UTC`},
		{"hours with a bad day", "[budget]\nhours = 'Mo-Fr 20:00-07:00 UTC'", `2: budget.hours: "Mo" is not a day; write Mon, Tue, Wed, Thu, Fri, Sat or Sun, as in Mon-Fri or Sat,Sun`},
		{"hours with a bad clock", "[budget]\nhours = 'Mon 20:00-25:00 UTC'", `2: budget.hours: "20:00-25:00" is not a span of hours; write HH:MM-HH:MM, such as 20:00-07:00`},
		{"hours that are empty", "[budget]\nhours = '09:00-09:00 UTC'", `2: budget.hours: "09:00-09:00" is empty; write 00:00-24:00 for the whole day`},
		{"hours without hours", "[budget]\nhours = 'weekends'", `2: budget.hours: "weekends" is not a window of hours; write days, hours and a time zone, such as "Mon-Fri 20:00-07:00 Europe/Berlin"`},
		{"freeze", "[budget]\nfreeze = ['', '2026-02-30 UTC', '2026-03-02/2026-03-01 UTC', '2026-03-01', '2026-03-01 Mars/Base', '2026-03-01 UTC UTC']", `2: budget.freeze[0]: is empty; write days and a time zone, such as "2026-12-20/2027-01-03 Europe/Berlin"
2: budget.freeze[1]: "2026-02-30" is not a day of the calendar; write YYYY-MM-DD/YYYY-MM-DD and a time zone
2: budget.freeze[2]: "2026-03-02/2026-03-01" ends before it begins; write the earlier day first
2: budget.freeze[3]: "2026-03-01" has no time zone; add one, such as Europe/Berlin, UTC, or Local for this machine's
2: budget.freeze[4]: "Mars/Base" is not a known time zone; write one such as Europe/Berlin, America/New_York or UTC
2: budget.freeze[5]: "2026-03-01 UTC UTC" is not a span of days; write days and a time zone, such as "2026-12-20/2027-01-03 Europe/Berlin"`},

		{"repository without place", "[[repository]]\nbase = 'main'", `1: repository[0]: has neither slug nor path; add slug = "owner/name" for GitHub, or path = "." for a local repository`},
		{"repository with empty place", "[[repository]]\npath = ''", `1: repository[0]: has neither slug nor path; add slug = "owner/name" for GitHub, or path = "." for a local repository`},
		{"repository with two places", "[[repository]]\npath = '.'\nslug = 'a/b'", `1: repository[0]: has both slug and path; leave out path for a repository on GitHub, slug for a local one`},
		{"slug twice", "[[repository]]\nslug = 'a/b'\n[[repository]]\nslug = 'A/B'", `3: repository[1]: A/B is configured already at backburner.toml:1; keep one of the two`},
		{"local with pull requests", "[[repository]]\npath = '.'\nplan_as = 'pull_request'", `3: repository[0].plan_as: a local repository has no pull requests; write "comment" or "file"`},
		{"gate of a repository", "[[repository]]\npath = '.'\ngates = { full = 'web', fulll = 'web' }", `3: repository[0].gates.full: there is no [gate.web]; add that table
3: repository[0].gates.fulll: nothing asks for a gate of that name; did you mean "full"?`},

		{"agent of unknown kind", "[agent.mine]\nslots = 2\n[agent.claud]", `1: agent.mine: it is not said which agent this is; add preset = "claude", "codex", "gemini", "opencode", "copilot", "qwen" or "custom"
3: agent.claud: it is not said which agent this is; add preset = "claude"`},
		{"unknown preset", "[agent.mine]\npreset = 'cluade'", `2: agent.mine.preset: "cluade" is not known; did you mean "claude"?`},
		{"custom without command", "[agent.mine]\npreset = 'custom'", `1: agent.mine: preset "custom" does not know what to run; add command = ["program", "argument"]`},
		{"role of an unknown agent", "[agent.mine]\ncommand = ['x']\n[roles]\nbuilder = ['mine', 'codx',\n 'zzz']\nplanner = ['custom']", `4: roles.builder[1]: "codx" is no agent; did you mean "codex"?
5: roles.builder[2]: "zzz" is no agent; add [agent.zzz] with preset = "custom" and its command, or use "claude", "codex", "copilot", "gemini", "mine", "opencode" or "qwen"
6: roles.planner[0]: "custom" is no agent; add [agent.custom] with preset = "custom" and its command, or use "claude", "codex", "copilot", "gemini", "mine", "opencode" or "qwen"`},
		{"unknown role", "[roles]\nbilder = []", `2: roles.bilder: unknown key; did you mean builder?`},

		{"gate without steps", "[gate.fast]\n[gate.full]\nsteps = []", `1: gate.fast: has no steps, and a gate that ran nothing cannot pass; add steps, or remove [gate.fast]
2: gate.full: has no steps, and a gate that ran nothing cannot pass; add steps, or remove [gate.full]`},
		{"skipped gate", "[gate.full]\nskip = true\nsteps = [{ run = ['a'] }]\n[gate.merge]\nskip = true\nsteps = [{ run = ['a'] }]", `2: gate.full.skip: only the merge gate can be skipped; remove [gate.full] to have none
5: gate.merge.skip: is true, but there are steps; remove one or the other`},
		{"step name twice", "[gate.full]\nsteps = [{ name = 'a', run = ['a'] },\n{ name = 'a', run = ['b'] }]", `3: gate.full.steps[1].name: "a" is the name of an earlier step too; give each its own`},
		{"groups", "[gate.full]\nsteps = [{ name = 'test', run = ['a'] }, { name = 'vet', run = ['b'] }]\nparallel = true\ngroups = [['test'], ['tset', 'test']]", `3: gate.full.parallel: is true, but groups say what runs at once; remove one of the two
4: gate.full.groups[1][0]: "tset" is not known; did you mean "test"?
4: gate.full.groups[1][1]: "test" is in two places; name each step once
4: gate.full.groups: step "vet" is in no group and would not run; add it to one`},
		{"coverage", "[gate.full]\nsteps = [{ run = ['a'], coverage = { file = '/tmp/x', format = 'lcv' } }]", `2: gate.full.steps[0].coverage.file: "/tmp/x" leaves the repository; write a path from its root
2: gate.full.steps[0].coverage.format: "lcv" is not known; did you mean "lcov"?
2: gate.full.steps[0].coverage: minimum is missing; add it: least coverage in percent`},

		{"capability without server", "[capability.t]\nuses = 'liner'\n[mcp.linear]\nurl = 'https://x'\n[capability.u]\nkinds = ['plna']", `2: capability.t.uses: there is no [mcp.liner]; did you mean "linear"?
5: capability.u: uses is missing; add it: handle of an MCP server
6: capability.u.kinds[0]: "plna" is not known; did you mean "plan"?`},
		{"server without way", "[mcp.a]\ntools = []\n[mcp.b]\nurl = 'https://x'\nsmithery = 'x/y'", `1: mcp.a: it is not said how the server is reached; add command, url or smithery
3: mcp.b: has url and smithery; keep the one by which the server is reached`},
		{"server's environment", "[mcp.a]\nurl = 'https://x'\nenv = ['A']\n[mcp.b]\ncommand = ['x']\nbearer_env = 'A'", `3: mcp.a.env: is for a server that is started by command; for a url use bearer_env
6: mcp.b.bearer_env: is for a server that is reached at a url; for a command use env`},
		{"smithery", "[mcp.a]\nsmithery = 'a/b/c'", `2: mcp.a.smithery: "a/b/c" names no connection; write "namespace/connection", or the connection alone where the account has one namespace`},
		{"notifier", "[notify.chat]\n[notify.slak]\n[notify.slack]\n[notify.command]\n[notify.desktop]\ncommand = ['x']\n[notify.x]\nkind = 'slack'\nwebhook_env = 'A'\nsecret_env = 'B'\nevents = ['blockd']", `1: notify.chat: it is not said how to notify; add kind = "slack", "webhook", "desktop" or "command"
2: notify.slak: it is not said how to notify; add kind = "slack"
3: notify.slack: slack needs an address; add webhook_env, the name of the variable that holds it
4: notify.command: kind "command" does not know what to run; add command = ["program", "argument"]
6: notify.desktop.command: is for kind = "command", this is "desktop"; remove it
10: notify.x.secret_env: is for kind = "webhook", this is "slack"; remove it
11: notify.x.events[0]: "blockd" is not known; did you mean "blocked"?`},

		{"nothing after =", "[tick]\nmax_agents = \n", `2: is not TOML: expected value but found '\n' instead; put text in quotes, and write true and false small; other problems show after that`},
		{"text without quotes", "[git]\nauthor = Jane", `2: is not TOML: expected value but found "Jane" instead; put text in quotes, and write true and false small; other problems show after that`},
		{"duration without quotes", "[tick]\ndeadline = 50m", `2: is not TOML: expected a top-level item to end with a newline, comment, or EOF, but got 'm' instead; put text and durations in quotes, and each setting on a line of its own; other problems show after that`},
		{"path with backslashes", "[state]\ndir = \"C:\\Users\"", `2: is not TOML: expected eight hexadecimal digits after '\U', but got "C:\\Us" instead; write \\ for one \, or use 'single quotes'; other problems show after that`},
		{"bracket missing", "[git\nsign = true", `2: is not TOML: expected '.' or ']' to end table name, but got '\n' instead; correct it here, or on the line before; other problems show after that`},
		{"key twice", "[tick]\nqueue = true\nqueue = true", `3: is not TOML: key 'tick.queue' has already been defined; keep one of the two; [[name]] begins another element of a list of tables; other problems show after that`},
		{"table twice", "[tick]\n[git]\n[tick]", `3: is not TOML: key 'tick' has already been defined; keep one of the two; [[name]] begins another element of a list of tables; other problems show after that`},
		{"too deep", "a = 1\nb = " + strings.Repeat("[", 100000), `2: is nested more than 32 deep; nothing here needs that`},
		{"not UTF-8", "[git]\n# fine\nauthor = 'J\xf6rg'", `3: is not UTF-8 on this line; save the file as UTF-8`},
		{"byte order mark", "\xef\xbb\xbf[git]", `1: begins with a byte order mark; save it as UTF-8 without one`},
		{"UTF-16", "\xff\xfe[\x00g\x00", `1: is UTF-16; save it as UTF-8`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(tc.text)
			var problems *config.Errors
			if !errors.As(err, &problems) {
				t.Fatalf("no problem was found; want\n%s", tc.want)
			}
			got := strings.ReplaceAll(err.Error(), "\nbackburner.toml:", "\n")
			if got = strings.TrimPrefix(got, "backburner.toml:"); got != tc.want {
				t.Errorf("\ngot\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestAllProblemsAtOnceByLine(t *testing.T) {
	dir := write(t, `[roles]
builder = ["nobody"]
[tick]
max_agents = 0
wrong = 1
[gate.fast]
[[repository]]
`)
	_, err := config.Load(config.Sources{
		Dir:   dir,
		Env:   []string{"BACKBURNER_TICK_DEADLINE=soon", "BACKBURNER_TICK_MAXACTIVE=3"},
		Flags: map[string]string{"tick.on_busy": "never", "tick.max_agent": "1"},
	})
	const want = `backburner.toml:2: roles.builder[0]: "nobody" is no agent; add [agent.nobody] with preset = "custom" and its command, or use "claude", "codex", "copilot", "gemini", "opencode" or "qwen"
backburner.toml:4: tick.max_agents: 0 is too little; at least 1
backburner.toml:5: tick.wrong: unknown key; known here: max_active, max_agents, max_gates, deadline, queue, prioritizer, on_busy, fail_on
backburner.toml:6: gate.fast: has no steps, and a gate that ran nothing cannot pass; add steps, or remove [gate.fast]
backburner.toml:7: repository[0]: has neither slug nor path; add slug = "owner/name" for GitHub, or path = "." for a local repository
BACKBURNER_TICK_DEADLINE: tick.deadline: "soon" is not a duration; write a number with a unit, such as "90s", "45m" or "1h30m"
BACKBURNER_TICK_MAXACTIVE: is no setting; did you mean BACKBURNER_TICK_MAX_ACTIVE? If it is not meant for backburner, rename it
flag: tick.max_agent: there is no such key; use one of the keys with a fixed place
flag: tick.on_busy: "never" is not known; use "skip", "wait" or "fail"`
	if err == nil || err.Error() != want {
		t.Errorf("\ngot\n%v\nwant\n%s", err, want)
	}
}

func TestOneMistakeHidesItsConsequences(t *testing.T) {
	for name, text := range map[string]string{
		"wrong type of slug":   "[[repository]]\nslug = 5",
		"wrong preset":         "[agent.mine]\npreset = 5",
		"wrong type of server": "[mcp.a]\nurl = 5\n[capability.b]\nuses = 'a'",
	} {
		_, err := load(t, text)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: want one problem, got\n%v", name, err)
		}
	}
}

func TestEveryAgentOfAVariableIsLookedAt(t *testing.T) {
	_, err := config.Load(config.Sources{Dir: t.TempDir(), Env: []string{"BACKBURNER_ROLES_QA=claud,codx"}})
	const want = `BACKBURNER_ROLES_QA: roles.qa: "claud" is no agent; did you mean "claude"?
BACKBURNER_ROLES_QA: roles.qa: "codx" is no agent; did you mean "codex"?`
	if err == nil || err.Error() != want {
		t.Errorf("\ngot\n%v\nwant\n%s", err, want)
	}
}

func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.toml")
	if err := os.WriteFile(big, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop.toml", filepath.Join(dir, "loop.toml")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"missing.toml": "missing.toml: there is no such file; check --config and BACKBURNER_CONFIG, or run backburner init to write one",
		"folder":       "folder: is a folder; name the file in it, such as folder/backburner.toml",
		"big.toml":     "big.toml: has 1048577 bytes, more than the 1048576 a configuration may have; is it the right file?",
		"/dev/null":    "/dev/null: is not a regular file; name a TOML file",
		"loop.toml":    "loop.toml: cannot be read: too many levels of symbolic links; check who may read it",
	} {
		_, err := config.Load(config.Sources{Dir: dir, Path: path})
		if err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", path, err, want)
		}
	}
}

// An unreadable file found on the way up is reported, not passed over.
func TestFolderInTheWay(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, config.FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(config.Sources{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("got %v", err)
	}
}
