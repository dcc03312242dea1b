// Package githubtest is GitHub in one process, for tests: people, repositories,
// issues, pull requests on real bare git repositories, and the part of the REST
// and GraphQL interfaces that backburner calls, with GitHub's headers, limits
// and failures.
//
// It is strict. What it does not serve (a route, a parameter, a field, an
// argument) is answered with an error and recorded as a violation, and a test
// with violations fails. Where GitHub's own descriptions of its interfaces are
// at hand (see [SchemasVariable]), every request and every answer is held
// against them too.
//
// The state lives in [Server]; methods of [Server] and [Repository] are what
// people do, and panic when a test asks for something that cannot be (an unknown
// user, a pull request without a branch). It must not know anything of
// backburner's own client: both are written from GitHub's documentation.
package githubtest
