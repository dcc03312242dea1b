package githubtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// checkout is a working copy that pushes with the real git.
type checkout struct {
	t   *testing.T
	dir string
}

func clone(t *testing.T, r *githubtest.Repository) checkout {
	t.Helper()
	c := checkout{t, t.TempDir()}
	c.git("init", "-q", "-b", "main")
	c.git("remote", "add", "origin", r.CloneURL())
	c.git("fetch", "-q", "origin")
	return c
}

func (c checkout) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes a file, commits it on the branch that is checked out and is the commit.
func (c checkout) commit(name, text string) string {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "write "+name)
	return c.git("rev-parse", "HEAD")
}

// made is the folder of template.
var made struct {
	sync.Once
	dir string
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(made.dir)
	os.Exit(code)
}

// template is a folder with a bare repository acme/shop.git and a checkout work
// of it: main, and a branch tea that adds tea.txt. It is made once, since git
// takes its time.
func template(t *testing.T) string {
	t.Helper()
	made.Do(func() {
		dir, err := os.MkdirTemp("", "githubtest-template-")
		if err != nil {
			t.Fatal(err)
		}
		made.dir = dir
		hub := githubtest.Start(t, githubtest.Options{Dir: dir})
		work := clone(t, hub.AddRepository("acme/shop"))
		work.commit("README", "shop\n")
		work.git("checkout", "-q", "-b", "tea")
		work.commit("tea.txt", "green\nblack\n")
		work.git("push", "-q", "origin", "main", "tea")
		if err := os.CopyFS(filepath.Join(dir, "work"), os.DirFS(work.dir)); err != nil {
			t.Fatal(err)
		}
	})
	return made.dir
}

// shopWithPull has a draft pull request of tea, and a checkout with tea checked out.
func shopWithPull(t *testing.T) (*githubtest.Server, client, *githubtest.Repository, checkout) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(template(t))); err != nil {
		t.Fatal(err)
	}
	hub, c := start(t, githubtest.Options{Dir: dir})
	shop := hub.AddRepository("acme/shop")
	work := checkout{t, filepath.Join(dir, "work")}
	work.git("remote", "set-url", "origin", shop.CloneURL())
	c.want(201, "POST", "/repos/acme/shop/pulls", map[string]any{"title": "Sell tea", "body": "All kinds.", "head": "tea", "base": "main", "draft": true})
	return hub, c, shop, work
}

const openPulls = `query($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest { id number state title updatedAt headRefName headRefOid baseRefOid isDraft merged mergedAt
	mergeCommit { oid } headRepository { nameWithOwner } isCrossRepository maintainerCanModify reviewDecision mergeStateStatus isInMergeQueue autoMergeRequest { mergeMethod }
	commits(last: 1) { nodes { commit { oid statusCheckRollup { state } } } }
	timelineItems(last: 50, itemTypes: [MERGED_EVENT, HEAD_REF_FORCE_PUSHED_EVENT, READY_FOR_REVIEW_EVENT]) { nodes { __typename ... on HeadRefForcePushedEvent { id createdAt actor { login } } } }
	reviews(last: 30) { nodes { id fullDatabaseId author { login __typename } state body submittedAt updatedAt
		comments(first: 100) { nodes { id fullDatabaseId path line originalLine diffHunk body replyTo { fullDatabaseId } author { login } } } } }
	reviewThreads(last: 50) { nodes { id isResolved comments(first: 1) { nodes { id } } } } } } }`

func (c client) pull(id any) answer {
	c.t.Helper()
	return c.graphql(openPulls, map[string]any{"ids": []any{id}})
}

func TestPullRequestFollowsPushes(t *testing.T) {
	_, c, _, work := shopWithPull(t)
	pull := c.want(200, "GET", "/repos/acme/shop/pulls/1", nil)
	pull.is(t, "head.sha", work.git("rev-parse", "tea"))
	pull.is(t, "mergeable_state", "draft")
	pull.is(t, "mergeable", true)
	id := pull.at("node_id")
	pushed := work.commit("tea.txt", "green\nblack\nwhite\n")
	work.git("push", "-q", "origin", "tea")
	c.pull(id).is(t, "data.nodes.0.headRefOid", pushed)
	work.git("commit", "-q", "--amend", "-m", "all kinds")
	work.git("push", "-q", "-f", "origin", "tea")
	moved := c.pull(id)
	moved.is(t, "data.nodes.0.headRefOid", work.git("rev-parse", "HEAD"))
	moved.is(t, "data.nodes.0.timelineItems.nodes.0.__typename", "HeadRefForcePushedEvent")
	if got := work.git("ls-remote", "origin", "refs/pull/1/head"); !strings.HasPrefix(got, work.git("rev-parse", "HEAD")) {
		t.Errorf("refs/pull/1/head is %s", got)
	}
	work.git("push", "-q", "origin", ":tea")
	c.pull(id).is(t, "data.nodes.0.state", "CLOSED")
}

func TestPullRequestsAreFoundByHead(t *testing.T) {
	_, c, _, _ := shopWithPull(t)
	c.want(200, "GET", "/repos/acme/shop/pulls?head=acme:tea&state=all&base=main", nil).is(t, "0.number", float64(1))
	c.want(200, "GET", "/repos/acme/shop/pulls?head=acme:coffee", nil).is(t, "0", nil)
	again := c.want(422, "POST", "/repos/acme/shop/pulls", map[string]any{"title": "x", "head": "tea", "base": "main"})
	again.is(t, "errors.0.message", "A pull request already exists for acme:tea.")
	c.want(422, "POST", "/repos/acme/shop/pulls", map[string]any{"title": "x", "head": "nowhere", "base": "main"}).is(t, "errors.0.field", "head")
	c.want(200, "PATCH", "/repos/acme/shop/pulls/1", map[string]any{"title": "Sell more", "state": "closed"}).is(t, "title", "Sell more")
	c.want(200, "GET", "/repos/acme/shop/pulls?head=acme:tea", nil).is(t, "0", nil)
	files := c.want(200, "GET", "/repos/acme/shop/pulls/1/files", nil)
	files.is(t, "0.filename", "tea.txt")
	files.is(t, "0.additions", float64(2))
}

func TestMergeHonoursTheHead(t *testing.T) {
	for _, strategy := range []string{"merge", "squash", "rebase"} {
		t.Run(strategy, func(t *testing.T) {
			_, c, _, work := shopWithPull(t)
			head, put := work.git("rev-parse", "tea"), func(status int, sha string) answer {
				return c.want(status, "PUT", "/repos/acme/shop/pulls/1/merge", map[string]any{"sha": sha, "merge_method": strategy})
			}
			put(405, head).is(t, "message", "Pull Request is still a draft")
			id := c.want(200, "GET", "/repos/acme/shop/pulls/1", nil).at("node_id")
			c.graphql(`mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`, map[string]any{"id": id}).
				is(t, "data.markPullRequestReadyForReview.pullRequest.isDraft", false)
			put(409, work.git("rev-parse", "main")).is(t, "message", "Head branch was modified. Review and try the merge again.")
			work.git("checkout", "-q", "main")
			work.commit("coffee.txt", "arabica\n")
			work.git("push", "-q", "origin", "main")
			sha := put(200, head).at("sha")
			work.git("fetch", "-q", "origin")
			if got := work.git("rev-parse", "origin/main"); got != sha {
				t.Errorf("main is at %s, merged was %v", got, sha)
			}
			if got := work.git("ls-tree", "--name-only", "origin/main"); got != "README\ncoffee.txt\ntea.txt" {
				t.Errorf("main holds %q", got)
			}
			parents := map[string]string{"merge": "2", "squash": "1", "rebase": "1"}[strategy]
			if got := len(strings.Fields(work.git("log", "-1", "--format=%P", "origin/main"))); string(rune('0'+got)) != parents {
				t.Errorf("%d parents, want %s", got, parents)
			}
			merged := c.pull(id)
			merged.is(t, "data.nodes.0.state", "MERGED")
			merged.is(t, "data.nodes.0.mergeCommit.oid", sha)
			put(405, head)
		})
	}
}

func TestMergeClosesTheIssueItNames(t *testing.T) {
	_, c, shop, _ := shopWithPull(t)
	n := shop.OpenIssue("ann", "Sell tea", "")
	other := shop.OpenIssue("ann", "Sell coffee", "")
	shop.EditIssue("ann", 1, "Sell tea", "Closes #2. See #3.")
	shop.SetDraft("ann", 1, false)
	id := c.want(200, "GET", "/repos/acme/shop/pulls/1", nil).at("node_id")
	c.pull(id)
	c.pull(id).is(t, "data.nodes.0.mergeStateStatus", "CLEAN") // to be asked leaves no trace
	shop.Merge("ann", 1, "merge")
	c.want(200, "GET", "/repos/acme/shop/issues/"+itoa(int64(n)), nil).is(t, "state_reason", "completed")
	c.want(200, "GET", "/repos/acme/shop/issues/"+itoa(int64(other)), nil).is(t, "state", "open")
}

func TestConflictingPullRequestDoesNotMerge(t *testing.T) {
	_, c, shop, work := shopWithPull(t)
	shop.SetDraft("ann", 1, false)
	work.git("checkout", "-q", "main")
	work.commit("tea.txt", "none\n")
	work.git("push", "-q", "origin", "main")
	pull := c.want(200, "GET", "/repos/acme/shop/pulls/1", nil)
	pull.is(t, "mergeable", false)
	pull.is(t, "mergeable_state", "dirty")
	c.want(405, "PUT", "/repos/acme/shop/pulls/1/merge", map[string]any{"merge_method": "merge"})
}

func TestMergeabilityMayComeLate(t *testing.T) {
	_, c, shop, work := shopWithPull(t)
	shop.SetRules(githubtest.Rules{LateMergeable: 1})
	work.commit("tea.txt", "red\n")
	work.git("push", "-q", "origin", "tea")
	c.want(200, "GET", "/repos/acme/shop/pulls/1", nil).is(t, "mergeable", nil)
	c.want(200, "GET", "/repos/acme/shop/pulls/1", nil).is(t, "mergeable", true)
}

func TestReviewsAndThreads(t *testing.T) {
	_, c, shop, work := shopWithPull(t)
	shop.Review("ann", 1, "changes_requested", "Not yet.", githubtest.Remark{Path: "tea.txt", Line: 2, Body: "Which black?"})
	remark := shop.Remarks(1)[0]
	path := "/repos/acme/shop/pulls/1/comments"
	c.want(200, "GET", path, nil).is(t, "0.diff_hunk", "@@ -0,0 +1,2 @@\n+green\n+black")
	c.want(201, "POST", path+"/"+itoa(remark)+"/replies", map[string]any{"body": "Assam."}).is(t, "in_reply_to_id", float64(remark))
	c.want(201, "POST", "/repos/acme/shop/pulls/comments/"+itoa(remark)+"/reactions", map[string]any{"content": "rocket"})
	shop.Resolve("ann", remark)
	c.want(422, "POST", "/repos/acme/shop/pulls/1/reviews", map[string]any{"event": "APPROVE"}).is(t, "errors.0", "Can not approve your own pull request")
	c.want(422, "POST", "/repos/acme/shop/pulls/1/reviews", map[string]any{"event": "COMMENT", "comments": []any{map[string]any{"path": "tea.txt", "line": 9, "body": "x"}}})
	c.want(200, "POST", "/repos/acme/shop/pulls/1/reviews", map[string]any{
		"event": "COMMENT", "body": "Looked.", "commit_id": work.git("rev-parse", "tea"), "comments": []any{map[string]any{"path": "tea.txt", "line": 1, "body": "fine"}},
	}).is(t, "state", "COMMENTED")
	id := c.want(200, "GET", "/repos/acme/shop/pulls/1", nil).at("node_id")
	pull := c.pull(id)
	pull.is(t, "data.nodes.0.reviewDecision", nil) // no review is required
	shop.SetRules(githubtest.Rules{Reviews: 1})
	c.pull(id).is(t, "data.nodes.0.reviewDecision", "CHANGES_REQUESTED")
	pull.is(t, "data.nodes.0.reviewThreads.nodes.0.isResolved", true)
	pull.is(t, "data.nodes.0.reviews.nodes.0.comments.nodes.0.line", float64(2))
	pull.is(t, "data.nodes.0.reviews.nodes.1.comments.nodes.0.replyTo.fullDatabaseId", itoa(remark))
	work.commit("tea.txt", "red\n")
	work.git("push", "-q", "origin", "tea")
	c.pull(id).is(t, "data.nodes.0.reviews.nodes.0.comments.nodes.0.line", nil)
	reviews := c.want(200, "GET", "/repos/acme/shop/pulls/1/reviews", nil)
	reviews.is(t, "0.state", "CHANGES_REQUESTED")
	first := int64(reviews.at("0.id").(float64))
	shop.EditReview("ann", 1, first, "Not yet!")
	shop.DismissReview(1, first)
	shop.EditRemark("ann", remark, "Which one?")
	changed := c.pull(id)
	changed.is(t, "data.nodes.0.reviews.nodes.0.body", "Not yet!")
	changed.is(t, "data.nodes.0.reviews.nodes.0.state", "DISMISSED")
	changed.is(t, "data.nodes.0.reviewDecision", "REVIEW_REQUIRED")
	changed.is(t, "data.nodes.0.reviews.nodes.0.comments.nodes.0.body", "Which one?")
	c.want(200, "GET", path, nil).is(t, "0.line", nil)
}

func TestRulesOfAMerge(t *testing.T) {
	_, c, shop, work := shopWithPull(t)
	shop.SetDraft("ann", 1, false)
	shop.SetRules(githubtest.Rules{Reviews: 1, Checks: []string{"ci"}, Strategies: []string{"squash"}, AutoMerge: true})
	head := work.git("rev-parse", "tea")
	put := func(status int) answer {
		return c.want(status, "PUT", "/repos/acme/shop/pulls/1/merge", map[string]any{"sha": head, "merge_method": "squash"})
	}
	put(405).is(t, "message", "At least 1 approving review is required by reviewers with write access.")
	shop.Review("ann", 1, "approved", "")
	put(405).is(t, "message", `Required status check "ci" is expected.`)
	shop.Check(head, "ci", "in_progress")
	id := c.want(200, "GET", "/repos/acme/shop/pulls/1", nil).at("node_id")
	c.pull(id).is(t, "data.nodes.0.mergeStateStatus", "BLOCKED")
	c.pull(id).is(t, "data.nodes.0.commits.nodes.0.commit.statusCheckRollup.state", "PENDING")
	const auto = `mutation($id: ID!, $how: PullRequestMergeMethod!, $head: GitObjectID!) {
		enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $how, expectedHeadOid: $head}) { pullRequest { autoMergeRequest { mergeMethod } } } }`
	c.graphql(auto, map[string]any{"id": id, "how": "MERGE", "head": head}).is(t, "errors.0.type", "UNPROCESSABLE")
	c.graphql(auto, map[string]any{"id": id, "how": "SQUASH", "head": head}).is(t, "data.enablePullRequestAutoMerge.pullRequest.autoMergeRequest.mergeMethod", "SQUASH")
	shop.Check(head, "ci", "success")
	c.pull(id).is(t, "data.nodes.0.state", "MERGED")
	c.want(200, "GET", "/repos/acme/shop/commits/"+head+"/check-runs?check_name=ci", nil).is(t, "check_runs.0.conclusion", "success")
}

func TestMergeQueue(t *testing.T) {
	_, c, shop, work := shopWithPull(t)
	shop.SetDraft("ann", 1, false)
	shop.SetRules(githubtest.Rules{Queue: true})
	c.want(405, "PUT", "/repos/acme/shop/pulls/1/merge", nil).is(t, "message", "Changes must be made through the merge queue")
	id := c.want(200, "GET", "/repos/acme/shop/pulls/1", nil).at("node_id")
	c.graphql(`mutation($id: ID!, $head: GitObjectID!) { enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $head}) { mergeQueueEntry { id state } } }`,
		map[string]any{"id": id, "head": work.git("rev-parse", "tea")}).is(t, "data.enqueuePullRequest.mergeQueueEntry.state", "QUEUED")
	c.pull(id).is(t, "data.nodes.0.isInMergeQueue", true)
	shop.RunQueue()
	c.pull(id).is(t, "data.nodes.0.state", "MERGED")
}

func TestFork(t *testing.T) {
	hub, c, shop, _ := shopWithPull(t)
	hub.AddUser("bea", "none")
	fork := shop.Fork("bea/shop")
	work := clone(t, fork)
	work.git("checkout", "-q", "-b", "coffee", "origin/main")
	head := work.commit("coffee.txt", "arabica\n")
	work.git("push", "-q", "origin", "coffee")
	n := shop.OpenPullRequest("bea", githubtest.PullRequest{Title: "Coffee", Head: "coffee", From: "bea/shop"})
	pull := c.want(200, "GET", "/repos/acme/shop/pulls/"+itoa(int64(n)), nil)
	pull.is(t, "head.sha", head)
	pull.is(t, "head.repo.full_name", "bea/shop")
	pull.is(t, "head.repo.fork", true)
	c.pull(pull.at("node_id")).is(t, "data.nodes.0.isCrossRepository", true)
	c.want(200, "GET", "/repos/acme/shop/pulls?head=bea:coffee", nil).is(t, "0.number", float64(n))
	shop.DeleteFork(n)
	gone := c.pull(pull.at("node_id"))
	gone.is(t, "data.nodes.0.headRepository", nil)
	gone.is(t, "data.nodes.0.headRefOid", head)
	c.want(200, "GET", "/repos/acme/shop/pulls/"+itoa(int64(n)), nil).is(t, "head.repo", nil)
}

func TestStatusesAndRefs(t *testing.T) {
	_, c, _, work := shopWithPull(t)
	head := work.git("rev-parse", "tea")
	c.want(201, "POST", "/repos/acme/shop/statuses/"+head, map[string]any{"state": "pending", "context": "backburner", "description": "building"}).is(t, "creator.login", "backburner-bot")
	c.want(201, "POST", "/repos/acme/shop/statuses/"+head, map[string]any{"state": "success", "context": "backburner"})
	status := c.want(200, "GET", "/repos/acme/shop/commits/"+head+"/status", nil)
	status.is(t, "state", "success")
	status.is(t, "total_count", float64(1))
	c.want(422, "POST", "/repos/acme/shop/statuses/"+head, map[string]any{"state": "success", "description": strings.Repeat("x", 141)})
	c.want(200, "GET", "/repos/acme/shop/git/ref/heads/tea", nil).is(t, "object.sha", head)
	c.want(404, "GET", "/repos/acme/shop/git/ref/heads/nowhere", nil)
	work.git("push", "-q", "origin", "tea:refs/heads/deep/er/tea")
	c.want(200, "GET", "/repos/acme/shop/git/ref/heads/deep/er/tea", nil).is(t, "object.sha", head)
}
