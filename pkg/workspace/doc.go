// Package workspace owns the git side of the work: backburner's own copy of each repository (the store), the persistent checkout of each
// workstream (the workspace), what is saved from a broken one (salvage), and the few writes into a user's own repository.
//
// Under the root folder, which ignores itself in git:
//
//	stores/<repository>/git        the store: a bare repository that no agent is ever told of
//	stores/<repository>/admin/<id> backburner's own index and HEAD of the workspace <id>
//	stores/<repository>/seen.json  what the repository looked like at the last fetch
//	pools/<repository>/objects     a copy of the store's objects, for workspaces to borrow from
//	workspaces/<id>                a workspace, a repository of its own
//	aside/<id>-<n>                 a workspace that could not be put in order, as it was found
//	tmp/                           things half made
//
// In the store, refs/remotes/origin/<branch> is what the repository has, refs/heads/<branch> is backburner's own work, and
// refs/backburner/salvage/<workspace>/<task>/<n> is work that was found where it could not stay.
//
// # Why an agent cannot make backburner run anything
//
// A workspace is a complete repository, and an agent may do with it as it likes: write its configuration, its hooks, its attributes,
// its objects. So no call of git is ever made in it. Its HEAD and its references are read as plain files, and written as such. Its files are
// compared and committed with an index, a HEAD and a configuration that lie beside the store, and its commits are taken into the store by
// packing them from there (GIT_DIR is the store, the workspace's objects are only borrowed from) and checking the pack as if a stranger had
// sent it. Attributes of the work's own tree hold, but only the drivers that the user configured exist.
//
// The pool exists because borrowed objects can be written to by whoever borrows them: what an agent can reach is a copy, which is compared with the
// store before it is used again. Nothing in the store is ever read from it.
//
// # What survives a kill
//
// Things are made under tmp and renamed into place. A commit is durable before the reference that names it, and the reference before the
// function returns. Everything else, the workspace's own .git included, can be made again from the store, and is, by the next call.
//
// The package takes and gives plain values. It knows nothing of tasks, statuses or forges, and must not log.
package workspace
