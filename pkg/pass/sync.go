package pass

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// sync reads what people want: spec files that are new or changed, once per
// tick, and the requests in the inbox. What is asked of a workstream that is
// there is applied at once; adds are left to enrol.
type sync struct {
	store        Store
	forge        Forge
	repositories Repositories
	hubs         *hubs
	end          func(workstream string)
	read         map[*Batch]bool
}

func (s *sync) Select(board *work.Board, b *Batch, _ time.Time) []Job {
	if !b.First && !b.Inbox {
		return nil
	}
	if s.read == nil {
		s.read = make(map[*Batch]bool)
	}
	if !s.read[b] {
		s.read[b] = true
		jobs := []Job{do("read requests", "", s.inbox(b))}
		if b.First {
			jobs = append(jobs, s.specFiles(board, b)...)
			jobs = append(jobs, s.hubs.read(board, b)...)
		}
		return jobs
	}
	if jobs := s.hubs.observe(board, b, s.end); len(jobs) > 0 {
		return jobs
	}
	var jobs []Job
	taken := map[string]bool{} // one at a time per workstream: the order of requests counts
	for _, in := range b.Incoming {
		if in.Done || in.enrols(board) || b.adds(board, in) || taken[in.Workstream] {
			continue
		}
		taken[in.Workstream] = true
		jobs = append(jobs, s.apply(board, b, in))
	}
	return jobs
}

// enrols reports whether a request is for work that is not there yet. A review
// of somebody's pull request is one as well.
func (in *Incoming) enrols(board *work.Board) bool {
	return in.Verb == work.VerbAdd || board.Workstreams[in.Workstream] == nil &&
		(in.Verb == work.VerbPlan || in.Verb == work.VerbReview && in.Kind == work.KindPullRequest)
}

// adds reports whether the batch has the request that makes the work which in is
// about: it comes first.
func (b *Batch) adds(board *work.Board, in *Incoming) bool {
	return in.Workstream != "" && in.Denied == "" && board.Workstreams[in.Workstream] == nil && slices.ContainsFunc(b.Incoming, func(other *Incoming) bool {
		return !other.Done && other.Workstream == in.Workstream && other.enrols(board)
	})
}

func (s *sync) inbox(b *Batch) Act {
	return func(context.Context) Record {
		requests, bad, err := s.store.Requests()
		return func(time.Time) (Act, error) {
			slices.SortFunc(requests, func(x, y *work.Request) int { return strings.Compare(x.ID, y.ID) })
			for _, r := range requests {
				b.Incoming = append(b.Incoming, &Incoming{Request: r})
			}
			if err == nil && len(bad) > 0 {
				err = Notice(fmt.Sprintf("request %s was set aside as %s: %v", bad[0].Path, bad[0].Aside, bad[0].Err))
			}
			return nil, err
		}
	}
}

func (s *sync) specFiles(board *work.Board, b *Batch) []Job {
	var jobs []Job
	for id, repo := range s.repositories {
		if repo.Path == "" {
			continue
		}
		known := make(map[string]work.SpecFile)
		if r := board.Repositories[id]; r != nil {
			for path, seen := range r.Specs {
				known[path] = seen
			}
		}
		job := do("read specs of "+id, "", func(ctx context.Context) Record {
			specs, problems, err := s.forge.Specs(ctx, repo.Path, known)
			return func(now time.Time) (Act, error) {
				for _, spec := range specs {
					if known[spec.Path].Hash == spec.Hash { // touched, not edited
						remember(board, id, spec.Path, work.SpecFile{Size: spec.Size, ModTime: spec.ModTime, Hash: spec.Hash})
						continue
					}
					b.Incoming = append(b.Incoming, fromFile(board, id, spec, now))
				}
				for _, p := range problems {
					remember(board, id, p.Path, work.SpecFile{Size: p.Size, ModTime: p.ModTime})
				}
				return nil, specTrouble(problems, err)
			}
		})
		job.Repository = id
		jobs = append(jobs, job)
	}
	return jobs
}

// remember notes a spec file that needs no second look until it changes.
func remember(board *work.Board, repository, path string, seen work.SpecFile) {
	repo := board.Repository(repository)
	if repo.Specs == nil {
		repo.Specs = make(map[string]work.SpecFile)
	}
	repo.Specs[path] = seen
}

func specTrouble(problems []forge.Problem, err error) error {
	if err != nil || len(problems) == 0 {
		return err
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return Notice(strings.Join(lines, "\n"))
}

// fromFile makes a request of a spec file that is new or was edited. Its id
// follows from the text, so that a repeat after a crash is the same request.
func fromFile(board *work.Board, repository string, spec forge.Spec, now time.Time) *Incoming {
	verb := work.VerbAdd
	if w := board.Workstreams[spec.ID]; w != nil && w.Repository == repository && w.Spec.Source == spec.Path {
		verb = work.VerbEdit
	}
	return &Incoming{
		Request: &work.Request{
			Schema: work.Schema, ID: "spec:" + spec.ID + ":" + spec.Hash, Verb: verb, Workstream: spec.ID, Repository: repository,
			By: "file", At: now.UTC(), Title: spec.Title, Body: spec.Body, Source: spec.Path,
		},
		File: spec.Path,
		Seen: &work.SpecFile{Size: spec.Size, ModTime: spec.ModTime, Hash: spec.Hash},
	}
}

// apply carries out one request, and settles it when the workstream is saved.
func (s *sync) apply(board *work.Board, b *Batch, in *Incoming) Job {
	name := string(in.Verb) + " " + in.Workstream
	if in.Workstream == "" {
		return Job{Name: name, Begin: func(now time.Time) (Act, error) {
			return s.settle(board, in, now, s.applyToAll(board, in.Request, now))
		}}
	}
	return Job{Name: name, Workstream: in.Workstream, Repository: in.Repository, Begin: func(now time.Time) (Act, error) {
		w := board.Workstreams[in.Workstream]
		a, barred := in.Barred()
		switch {
		case barred && w == nil:
			return s.settle(board, in, now, a)
		case in.asks() && !barred:
			return s.settle(board, in, now, work.Applying{Decision: work.Applied, Detail: s.hubs.answer(w, in.Verb, now)})
		case w == nil:
			return s.fromArchive(board, b, in), nil
		}
		return s.applyTo(board, w, b, in, now)
	}}
}

func (s *sync) applyTo(board *work.Board, w *work.Workstream, b *Batch, in *Incoming, now time.Time) (Act, error) {
	a, err := w.Apply(in.Request, now)
	if err != nil {
		a = work.Applying{Decision: work.Rejected, Reason: "invalid", Detail: err.Error()}
	}
	if a.EndAgent {
		s.end(w.ID)
	}
	b.Add(w.ID)
	switch {
	case a.Decision == work.Rejected && in.Hub && in.Verb == work.VerbEdit: // once for each person: anybody may edit what he wrote
		w.Say("edit_refused:"+in.By, "edited", fmt.Sprintf("The text was edited by %s, and is not taken over: %s. The work goes on from the text before, "+
			"until somebody with write access edits it.", in.By, a.Detail), now)
	case a.Decision == work.Rejected && in.Denied == "": // of strangers nothing is kept that agents would read
		w.Say("refused:"+in.ID, "refused", fmt.Sprintf("`%s` by %s was refused: %s.", in.Verb, in.By, a.Detail), now)
	}
	return s.settle(board, in, now, a)
}

// fromArchive looks for a workstream that was closed; only a retry brings it back.
func (s *sync) fromArchive(board *work.Board, b *Batch, in *Incoming) Act {
	return func(context.Context) Record {
		var w *work.Workstream
		if work.BadID(in.Workstream) != "" {
			return func(now time.Time) (Act, error) {
				return s.settle(board, in, now, in.missing(""))
			}
		}
		status, err := over(s.store, in.Workstream)
		if err == nil && status == work.Closed && in.Verb == work.VerbRetry {
			w, err = s.store.Unarchive(in.Workstream)
		}
		return func(now time.Time) (Act, error) {
			if err != nil {
				return nil, err
			}
			if w == nil {
				return s.settle(board, in, now, in.missing(status))
			}
			board.Workstreams[w.ID] = w
			return s.applyTo(board, w, b, in, now)
		}
	}
}

// missing refuses what is asked of work that is not there, or no longer.
func (in *Incoming) missing(archived work.Status) work.Applying {
	id := work.Printable(in.Workstream)
	switch {
	case archived != "":
		return work.Applying{Decision: work.Rejected, Reason: "terminal_status", Detail: id + " is over: it is " + string(archived)}
	case in.Hub:
		return work.Applying{Decision: work.Rejected, Reason: "invalid", Detail: "nothing is being done here"}
	}
	return work.Applying{Decision: work.Rejected, Reason: "invalid", Detail: "there is no workstream " + id + "; see: backburner status"}
}

// settle notes the decision; the request's file moves once the effect is saved.
func (s *sync) settle(board *work.Board, in *Incoming, now time.Time, a work.Applying) (Act, error) {
	in.Progress.LastEvaluated, in.Progress.Decision = now.UTC(), a.Decision
	in.Progress.Reason, in.Progress.Detail = a.Reason, a.Detail
	var refused error
	if a.Decision == work.Rejected {
		why, _, _ := strings.Cut(a.Detail, "\n")
		refused = Notice(fmt.Sprintf("%s %s: refused (%s): %s", in.Verb, in.Workstream, a.Reason, why))
	}
	return decided(board, s.store, in), refused
}

// asks reports whether a request only wants to be told something.
func (in *Incoming) asks() bool { return in.Verb == work.VerbHelp || in.Verb == work.VerbStatus }

// marked has whoever asked on the hub told what became of it. What was refused,
// or asks for an answer, is answered in words.
func (in *Incoming) marked(board *work.Board) {
	if in.Receipt == "" {
		return
	}
	r := work.Receipt{Request: in.ID, Workstream: in.Workstream, Target: in.Receipt, Outcome: in.Progress.Decision}
	switch {
	case in.Denied != "": // strangers get no words: anybody could have them written
	case in.asks():
		r.Text = in.Progress.Detail
	case r.Outcome == work.Rejected:
		verb := in.Verb
		if verb == work.VerbAdd {
			verb = "start" // as it is asked for there
		}
		r.Text = fmt.Sprintf("`%s` by %s is refused: %s.", verb, in.By, strings.TrimRight(work.InWords(in.Progress.Detail), "."))
	}
	repo := board.Repository(in.Repository)
	repo.Marks = append(repo.Marks, r)
}

// decided moves a decided request out of the inbox, or remembers the spec file
// that it was made from.
func decided(board *work.Board, store Store, in *Incoming) Act {
	in.Done = true
	in.marked(board)
	if in.Seen != nil {
		remember(board, in.Repository, in.File, *in.Seen)
		return nil
	}
	request := *in.Request
	return func(context.Context) Record {
		err := store.SettleRequest(&request)
		return func(time.Time) (Act, error) { return nil, err }
	}
}

// applyToAll holds or resumes everything.
func (s *sync) applyToAll(board *work.Board, r *work.Request, now time.Time) work.Applying {
	states := board.Agents
	if slices.Contains(states.Applied, r.ID) {
		return work.Applying{Decision: work.Applied}
	}
	switch r.Verb {
	case work.VerbHold:
		states.Hold = &work.Hold{By: r.By, Reason: r.Text, At: now.UTC()}
		if r.Now {
			for id := range board.Workstreams {
				s.end(id)
			}
		}
	case work.VerbResume:
		states.Hold = nil
	default:
		return work.Applying{Decision: work.Rejected, Reason: "invalid", Detail: "name the workstream"}
	}
	states.Applied = append(states.Applied, r.ID)
	return work.Applying{Decision: work.Applied}
}
