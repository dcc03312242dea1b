package github

// The queries. Everything that is asked for is used; a page is as long as one
// answer within GitHub's ten seconds allows.

const who = `{login __typename}`

const writtenFields = `author` + who + ` editor` + who + ` body createdAt lastEditedAt`

const commentFields = `id fullDatabaseId ` + writtenFields + ` isMinimized`

const happeningFields = `__typename
 ... on LabeledEvent{id createdAt actor` + who + ` label{name}}
 ... on UnlabeledEvent{id createdAt actor` + who + ` label{name}}
 ... on ClosedEvent{id createdAt actor` + who + `}
 ... on ReopenedEvent{id createdAt actor` + who + `}
 ... on RenamedTitleEvent{id createdAt actor` + who + `}
 ... on AssignedEvent{id createdAt actor` + who + ` assignee{... on Actor` + who + `}}`

const pullHappeningFields = happeningFields + `
 ... on MergedEvent{id createdAt actor` + who + `}
 ... on HeadRefForcePushedEvent{id createdAt actor` + who + `}
 ... on HeadRefDeletedEvent{id createdAt actor` + who + `}
 ... on ReadyForReviewEvent{id createdAt actor` + who + `}`

const (
	issueItems = `itemTypes:[LABELED_EVENT,UNLABELED_EVENT,CLOSED_EVENT,REOPENED_EVENT,RENAMED_TITLE_EVENT,ASSIGNED_EVENT]`
	pullItems  = `itemTypes:[LABELED_EVENT,UNLABELED_EVENT,CLOSED_EVENT,REOPENED_EVENT,RENAMED_TITLE_EVENT,ASSIGNED_EVENT,` +
		`MERGED_EVENT,HEAD_REF_FORCE_PUSHED_EVENT,HEAD_REF_DELETED_EVENT,READY_FOR_REVIEW_EVENT]`
)

const reviewCommentFields = commentFields + ` path line originalLine diffHunk replyTo{fullDatabaseId}`

const reviewFields = `id fullDatabaseId ` + writtenFields + ` state submittedAt commit{oid}
 comments(first:100){pageInfo{hasNextPage endCursor} nodes{` + reviewCommentFields + `}}`

const threadFields = `__typename id fullDatabaseId number url title ` + writtenFields + ` updatedAt repository{nameWithOwner}
 labels(first:50){nodes{name}}
 comments(last:50){pageInfo{hasPreviousPage startCursor} nodes{` + commentFields + `}}`

const issueFields = threadFields + ` state stateReason
 timelineItems(last:50,` + issueItems + `){pageInfo{hasPreviousPage startCursor} nodes{` + happeningFields + `}}`

// State has another type here, and a field of one name has one type in a query.
const pullFields = threadFields + `
 timelineItems(last:50,` + pullItems + `){pageInfo{hasPreviousPage startCursor} nodes{` + pullHappeningFields + `}}
 headRefName headRefOid headRepository{nameWithOwner} baseRefName baseRefOid pullState:state isDraft isCrossRepository maintainerCanModify mergedAt mergeCommit{oid}
 reviews(last:30){pageInfo{hasPreviousPage startCursor} nodes{` + reviewFields + `}}
 reviewThreads(last:50){nodes{isResolved comments(first:1){nodes{fullDatabaseId}}}}`

const issuesQuery = `query($owner:String!,$name:String!,$since:DateTime!,$after:String){repository(owner:$owner,name:$name){
 issues(first:25,after:$after,filterBy:{since:$since},orderBy:{field:UPDATED_AT,direction:ASC}){pageInfo{hasNextPage endCursor} nodes{` + issueFields + `}}}}`

const pullsQuery = `query($owner:String!,$name:String!,$after:String){repository(owner:$owner,name:$name){
 pullRequests(first:25,after:$after,orderBy:{field:UPDATED_AT,direction:DESC}){pageInfo{hasNextPage endCursor} nodes{` + pullFields + `}}}}`

const threadsQuery = `query($ids:[ID!]!){nodes(ids:$ids){... on Issue{` + issueFields + `} ... on PullRequest{` + pullFields + `}}}`

// What does not fit on the first page is read from the thread itself.
const (
	moreComments = `query($id:ID!,$at:String){node(id:$id){
 ... on Issue{comments(last:100,before:$at){pageInfo{hasPreviousPage startCursor} nodes{` + commentFields + `}}}
 ... on PullRequest{comments(last:100,before:$at){pageInfo{hasPreviousPage startCursor} nodes{` + commentFields + `}}}}}`
	moreTimeline = `query($id:ID!,$at:String){node(id:$id){
 ... on Issue{timelineItems(last:100,before:$at,` + issueItems + `){pageInfo{hasPreviousPage startCursor} nodes{` + happeningFields + `}}}
 ... on PullRequest{timelineItems(last:100,before:$at,` + pullItems + `){pageInfo{hasPreviousPage startCursor} nodes{` + pullHappeningFields + `}}}}}`
	moreReviews = `query($id:ID!,$at:String){node(id:$id){
 ... on PullRequest{reviews(last:30,before:$at){pageInfo{hasPreviousPage startCursor} nodes{` + reviewFields + `}}}}}`
	moreReviewComments = `query($id:ID!,$at:String){node(id:$id){
 ... on PullRequestReview{comments(first:100,after:$at){pageInfo{hasNextPage endCursor} nodes{` + reviewCommentFields + `}}}}}`
)

// latestComment is the one that was written or edited last: an edit moves nothing
// else. Reviews have no such order.
const latestComment = `comments(first:1,orderBy:{field:UPDATED_AT,direction:DESC}){totalCount nodes{updatedAt}}`

const openQuery = `query($ids:[ID!]!){nodes(ids:$ids){__typename
 ... on Issue{id number url title state stateReason updatedAt repository{nameWithOwner} ` + latestComment + `}
 ... on PullRequest{id number url title pullState:state updatedAt repository{nameWithOwner} ` + latestComment + ` reviews(last:10){totalCount nodes{updatedAt}}
  headRefName headRefOid baseRefName baseRefOid isDraft merged mergeCommit{oid} reviewDecision mergeStateStatus isInMergeQueue autoMergeRequest{enabledAt}
  commits(last:1){nodes{commit{oid statusCheckRollup{state}}}}}}}`
