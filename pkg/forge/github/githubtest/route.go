package githubtest

import (
	"net/http"
	"net/url"
	"strings"
)

// route is one operation of the REST interface, by the path that GitHub's
// description gives it.
type route struct {
	method string
	path   string
	query  []string // parameters served, beside per_page and page of a list
	body   []string // fields served; nil: no body
	needs  string   // of the token: "issues=write"; "": a token that works
	role   string   // of its user in the repository; "": none
	do     func(*call) answer
}

const (
	inRepo    = "/repos/{owner}/{repo}"
	inIssue   = inRepo + "/issues/{issue_number}"
	inComment = inRepo + "/issues/comments/{comment_id}"
)

var paged = []string{"per_page", "page"}

// routes are what this GitHub serves; anything else is a violation.
var routes = []route{
	{"GET", "/user", nil, nil, "", "", (*call).getViewer},
	{"GET", "/rate_limit", nil, nil, "", "", (*call).getRateLimit},
	{"GET", inRepo, nil, nil, "metadata=read", "read", (*call).getRepository},
	{"GET", inRepo + "/collaborators/{username}/permission", nil, nil, "metadata=read", "write", (*call).getPermission},

	{"GET", inIssue, nil, nil, "issues=read", "read", (*call).getIssue},
	{"GET", inIssue + "/comments", append(paged, "since"), nil, "issues=read", "read", (*call).listComments},
	{"POST", inIssue + "/comments", nil, []string{"body"}, "issues=write", "read", (*call).createComment},
	{"GET", inComment, nil, nil, "issues=read", "read", (*call).getComment},
	{"PATCH", inComment, nil, []string{"body"}, "issues=write", "read", (*call).updateComment},
	{"POST", inComment + "/reactions", nil, []string{"content"}, "issues=write", "read", (*call).reactToComment},
	{"POST", inIssue + "/reactions", nil, []string{"content"}, "issues=write", "read", (*call).reactToIssue},
	{"POST", inIssue + "/labels", nil, []string{"labels"}, "issues=write", "triage", (*call).addLabels},
	{"DELETE", inIssue + "/labels/{name}", nil, nil, "issues=write", "triage", (*call).removeLabel},
	{"POST", inRepo + "/labels", nil, []string{"name", "color", "description"}, "issues=write", "write", (*call).createLabel},
	{"GET", inRepo + "/labels/{name}", nil, nil, "issues=read", "read", (*call).getLabel},
}

// match finds the operation of a request and what stands for the variables of
// its path. Where two match, the one with more fixed words is meant.
func match(method, escaped string) (found *route, vars map[string]string) {
	fewest := len(escaped)
	for i := range routes {
		r := &routes[i]
		if r.method != method {
			continue
		}
		if v, ok := matchPath(r.path, escaped); ok && len(v) < fewest {
			found, vars, fewest = r, v, len(v)
		}
	}
	return found, vars
}

func matchPath(pattern, escaped string) (map[string]string, bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(escaped, "/")
	vars := map[string]string{}
	for i, w := range want {
		if i >= len(got) {
			return nil, false
		}
		name, variable := strings.CutPrefix(w, "{")
		if !variable {
			if w != got[i] {
				return nil, false
			}
			continue
		}
		name = strings.TrimSuffix(name, "}")
		value := got[i]
		if name == "ref" && i == len(want)-1 { // the one variable that may hold slashes
			value, got = strings.Join(got[i:], "/"), got[:i+1]
		}
		text, err := url.PathUnescape(value)
		if err != nil || text == "" {
			return nil, false
		}
		vars[name] = text
	}
	return vars, len(want) == len(got)
}

// answer is what GitHub says to a request.
type answer struct {
	status int
	body   any // nil: none; a string is sent as it is
	header http.Header
	points int // of the GraphQL limit
}

func ok(body any) answer      { return answer{status: http.StatusOK, body: body} }
func created(body any) answer { return answer{status: http.StatusCreated, body: body} }

const documentation = "https://docs.github.com/rest"

func refuse(status int, message string) answer {
	text := map[string]any{"message": message, "documentation_url": documentation, "status": http.StatusText(status)}
	text["status"] = itoa(int64(status))
	return answer{status: status, body: text, header: http.Header{}}
}

func notFound() answer { return refuse(http.StatusNotFound, "Not Found") }

// invalid is GitHub's answer to a value that it does not take.
func invalid(resource, field, code, message string) answer {
	a := refuse(http.StatusUnprocessableEntity, "Validation Failed")
	detail := map[string]any{"resource": resource, "field": field, "code": code}
	if message != "" {
		detail["message"] = message
	}
	a.body.(map[string]any)["errors"] = []any{detail}
	return a
}

func (a answer) with(key, value string) answer {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(key, value)
	return a
}
