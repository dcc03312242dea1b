package githubtest

import (
	"net/http"
	"net/url"
	"slices"
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
	inPull    = inRepo + "/pulls/{pull_number}"
)

var paged = []string{"per_page", "page"}

// with are the parameters of a list that has more than pages.
func with(more ...string) []string { return append(more, paged...) }

// routes are what this GitHub serves; anything else is a violation.
var routes = []route{
	{"GET", "/user", nil, nil, "", "", (*call).getViewer},
	{"GET", "/rate_limit", nil, nil, "", "", (*call).getRateLimit},
	{"GET", inRepo, nil, nil, "metadata=read", "read", (*call).getRepository},
	{"GET", inRepo + "/collaborators/{username}/permission", nil, nil, "metadata=read", "write", (*call).getPermission},

	{"GET", inIssue, nil, nil, "issues=read", "read", (*call).getIssue},
	{"GET", inIssue + "/comments", with("since"), nil, "issues=read", "read", (*call).listComments},
	{"POST", inIssue + "/comments", nil, []string{"body"}, "issues=write", "read", (*call).createComment},
	{"GET", inComment, nil, nil, "issues=read", "read", (*call).getComment},
	{"PATCH", inComment, nil, []string{"body"}, "issues=write", "read", (*call).updateComment},
	{"POST", inComment + "/reactions", nil, []string{"content"}, "issues=write", "read", (*call).reactToComment},
	{"POST", inIssue + "/reactions", nil, []string{"content"}, "issues=write", "read", (*call).reactToIssue},
	{"POST", inIssue + "/labels", nil, []string{"labels"}, "issues=write", "triage", (*call).addLabels},
	{"DELETE", inIssue + "/labels/{name}", nil, nil, "issues=write", "triage", (*call).removeLabel},
	{"POST", inRepo + "/labels", nil, []string{"name", "color", "description"}, "issues=write", "write", (*call).createLabel},
	{"PATCH", inRepo + "/labels/{name}", nil, []string{"color", "description"}, "issues=write", "write", (*call).updateLabel},
	{"GET", inRepo + "/labels/{name}", nil, nil, "issues=read", "read", (*call).getLabel},
	{"GET", inRepo + "/issues", with("state", "labels", "creator", "since", "sort", "direction"), nil, "issues=read", "read", (*call).listIssues},
	{"POST", inRepo + "/issues", nil, []string{"title", "body", "labels"}, "issues=write", "read", (*call).createIssue},
	{"GET", inIssue + "/sub_issues", paged, nil, "issues=read", "read", (*call).listSubIssues},
	{"POST", inIssue + "/sub_issues", nil, []string{"sub_issue_id", "replace_parent"}, "issues=write", "triage", (*call).addSubIssue},

	{"GET", inRepo + "/pulls", with("state", "head", "base", "sort", "direction"), nil, "pull_requests=read", "read", (*call).listPulls},
	{"POST", inRepo + "/pulls", nil, []string{"title", "body", "head", "base", "draft", "maintainer_can_modify"}, "pull_requests=write", "read", (*call).createPull},
	{"GET", inPull, nil, nil, "pull_requests=read", "read", (*call).getPull},
	{"PATCH", inPull, nil, []string{"title", "body", "state", "base", "maintainer_can_modify"}, "pull_requests=write", "read", (*call).updatePull},
	{"GET", inPull + "/files", paged, nil, "pull_requests=read", "read", (*call).listFiles},
	{"PUT", inPull + "/merge", nil, []string{"sha", "merge_method", "commit_title", "commit_message"}, "contents=write", "write", (*call).mergePull},
	{"GET", inPull + "/reviews", paged, nil, "pull_requests=read", "read", (*call).listReviews},
	{"POST", inPull + "/reviews", nil, []string{"commit_id", "body", "event", "comments"}, "pull_requests=write", "read", (*call).createReview},
	{"GET", inPull + "/comments", with("since", "sort", "direction"), nil, "pull_requests=read", "read", (*call).listRemarks},
	{"POST", inPull + "/comments/{comment_id}/replies", nil, []string{"body"}, "pull_requests=write", "read", (*call).replyToRemark},
	{"POST", inRepo + "/pulls/comments/{comment_id}/reactions", nil, []string{"content"}, "pull_requests=write", "read", (*call).reactToRemark},

	{"GET", inRepo + "/git/ref/{ref}", nil, nil, "contents=read", "read", (*call).getRef},
	{"POST", inRepo + "/statuses/{sha}", nil, []string{"state", "target_url", "description", "context"}, "statuses=write", "write", (*call).createStatus},
	{"GET", inRepo + "/commits/{ref}/status", paged, nil, "statuses=read", "read", (*call).getStatus},
	{"GET", inRepo + "/commits/{ref}/check-runs", with("check_name", "status", "filter"), nil, "checks=read", "read", (*call).listCheckRuns},
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
		if name == "ref" && len(got) > len(want) { // the one variable that may hold slashes
			end := len(got) - (len(want) - i - 1)
			value = strings.Join(got[i:end], "/")
			got = append(append(slices.Clone(got[:i]), value), got[end:]...)
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
}

func ok(body any) answer      { return answer{status: http.StatusOK, body: body} }
func created(body any) answer { return answer{status: http.StatusCreated, body: body} }

const documentation = "https://docs.github.com/rest"

func refuse(status int, message string) answer {
	text := map[string]any{"message": message, "documentation_url": documentation, "status": itoa(int64(status))}
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
