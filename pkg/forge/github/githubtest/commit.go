package githubtest

// commit is what people and machines said about a commit.
type commit struct {
	identity
	oid      string
	statuses []*status
	runs     []*checkRun
}

// status is one commit status; of each context the last counts.
type status struct {
	identity
	commit      *commit
	creator     *user
	state       string // error, failure, pending, success
	context     string
	description string
	target      string
}

type checkRun struct {
	identity
	commit     *commit
	name       string
	status     string // queued, in_progress, completed
	conclusion string // of a completed one: success, failure, neutral, skipped, ...
}

func (r *repository) commit(oid string) *commit {
	c := r.commits[oid]
	if c == nil {
		c = &commit{oid: oid}
		c.identity = r.world.identify("C", "Commit", c)
		r.commits[oid] = c
	}
	return c
}

// current are the last statuses of each context.
func (c *commit) current() []*status {
	var last []*status
	seen := map[string]bool{}
	for i := len(c.statuses) - 1; i >= 0; i-- {
		if s := c.statuses[i]; !seen[s.context] {
			seen[s.context] = true
			last = append(last, s)
		}
	}
	return last
}

func (c *commit) green(name string) bool {
	for _, s := range c.current() {
		if s.context == name {
			return s.state == "success"
		}
	}
	found := false
	for _, r := range c.runs { // the last of that name counts
		if r.name == name {
			found = r.state() == "SUCCESS"
		}
	}
	return found
}

func (r *checkRun) state() string {
	switch {
	case r.status != "completed":
		return "PENDING"
	case r.conclusion == "success", r.conclusion == "neutral", r.conclusion == "skipped":
		return "SUCCESS"
	}
	return "FAILURE"
}

// rollup is the worst of all statuses and check runs; "" when there is none.
func (c *commit) rollup() string {
	worst := ""
	note := func(state string) {
		order := map[string]int{"": 0, "SUCCESS": 1, "PENDING": 2, "FAILURE": 3, "ERROR": 4}
		if order[state] > order[worst] {
			worst = state
		}
	}
	for _, s := range c.current() {
		note(map[string]string{"success": "SUCCESS", "pending": "PENDING", "failure": "FAILURE", "error": "ERROR"}[s.state])
	}
	last := map[string]string{}
	for _, r := range c.runs {
		last[r.name] = r.state()
	}
	for _, state := range last {
		note(state)
	}
	return worst
}

// combined is the state of the statuses alone, as REST says it.
func (c *commit) combined() string {
	state := "pending"
	for n, s := range c.current() {
		switch {
		case s.state == "error", s.state == "failure":
			return "failure"
		case s.state == "pending":
			state = "pending"
		case n == 0:
			state = "success"
		}
	}
	return state
}

func (c *commit) addStatus(r *repository, by *user, state, context string) *status {
	s := &status{commit: c, creator: by, state: state, context: context}
	s.identity = r.world.identify("SC", "StatusContext", s)
	c.statuses = append(c.statuses, s)
	return s
}

// addRun starts a check run, or ends the one of that name that is running.
func (c *commit) addRun(r *repository, name, outcome string) *checkRun {
	run := c.running(name)
	if run == nil {
		run = &checkRun{commit: c, name: name, status: "in_progress"}
		run.identity = r.world.identify("CR", "CheckRun", run)
		c.runs = append(c.runs, run)
	}
	run.updated = r.world.time()
	if outcome == "queued" || outcome == "in_progress" {
		run.status = outcome
		return run
	}
	run.status, run.conclusion = "completed", outcome
	return run
}

func (c *commit) running(name string) *checkRun {
	for _, r := range c.runs {
		if r.name == name && r.status != "completed" {
			return r
		}
	}
	return nil
}

// latestRuns are the last runs of each name, or all.
func (c *commit) latestRuns(all bool) []*checkRun {
	if all {
		return c.runs
	}
	var last []*checkRun
	seen := map[string]bool{}
	for i := len(c.runs) - 1; i >= 0; i-- {
		if r := c.runs[i]; !seen[r.name] {
			seen[r.name] = true
			last = append(last, r)
		}
	}
	return last
}
