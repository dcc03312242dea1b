package pass

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// troubles are what keeps repositories from their forge, as this tick meets it.
// A person hears of each once, and once that it is over; status has it meanwhile.
type troubles struct {
	tried map[direction]bool
	met   map[direction][]work.Trouble
}

// direction is one of two: from the forge of a repository, or to it.
type direction struct {
	repository string
	writing    bool
}

func newTroubles() *troubles {
	return &troubles{tried: make(map[direction]bool), met: make(map[direction][]work.Trouble)}
}

// meet notes what went wrong with the forge of a repository, several things maybe,
// and returns what is to be said of it now; an error of something else it leaves
// as it is.
func (t *troubles) meet(repo *work.Repository, writing bool, err error, now time.Time) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var notices []error
		for _, one := range several.Unwrap() {
			notices = append(notices, t.meet(repo, writing, one, now))
		}
		return together(notices)
	}
	trouble, ok := forge.Explain(err)
	if !ok {
		return err
	}
	trouble.Writing = writing
	at := direction{repo.ID, writing}
	t.tried[at], t.met[at] = true, append(t.met[at], trouble)
	if repo.Meet(trouble, now) {
		return Notice(repo.ID + ": " + trouble.Text)
	}
	return nil
}

// well notes that what was tried could be done.
func (t *troubles) well(repository string, writing bool) {
	t.tried[direction{repository, writing}] = true
}

// over reports whether trouble of a repository is: what it kept from was tried,
// and it was not met.
func (t *troubles) over(repository string) func(work.Trouble) bool {
	return func(trouble work.Trouble) bool {
		at := direction{repository, trouble.Writing}
		return t.tried[at] && !slices.ContainsFunc(t.met[at], trouble.Same)
	}
}

// end drops, at the end of the tick, what is over.
func (t *troubles) end(board *work.Board) []Job {
	var jobs []Job
	var well []error
	for _, id := range slices.Sorted(maps.Keys(board.Repositories)) {
		repo, over := board.Repositories[id], t.over(id)
		if !slices.ContainsFunc(repo.Troubles, over) {
			continue
		}
		lasts := func(trouble work.Trouble) bool { return !over(trouble) }
		told := func(trouble work.Trouble) bool { return trouble.Told }
		if slices.ContainsFunc(repo.Troubles, told) && !slices.ContainsFunc(repo.Troubles, lasts) {
			well = append(well, Notice(id+": all is well with its forge again"))
		}
		job := decide("look at the forge of "+id, "", func(time.Time) error {
			repo.Troubles = slices.DeleteFunc(repo.Troubles, over)
			return nil
		})
		job.Repository = id
		jobs = append(jobs, job)
	}
	if len(well) > 0 {
		jobs = append(jobs, decide("tell what is over", "", func(time.Time) error { return together(well) }))
	}
	return jobs
}

// together is one notice of several. What is said of many repositories is said
// once.
func together(notices []error) error {
	var texts []string
	of := make(map[string][]string)
	for _, n := range notices {
		if n == nil {
			continue
		}
		repo, text, _ := strings.Cut(n.Error(), ": ")
		if of[text] == nil {
			texts = append(texts, text)
		}
		if !slices.Contains(of[text], repo) {
			of[text] = append(of[text], repo)
		}
	}
	for i, text := range texts {
		texts[i] = first(of[text], 5) + ": " + text
	}
	if len(texts) == 0 {
		return nil
	}
	return Notice(strings.Join(texts, "\n"))
}

// goingAway is what goes away by itself and was not told, for the tick's line.
func goingAway(board *work.Board) (texts []string) {
	var notices []error
	for _, id := range slices.Sorted(maps.Keys(board.Repositories)) {
		for _, t := range board.Repositories[id].Troubles {
			if t.Passing && !t.Told {
				notices = append(notices, errors.New(id+": "+t.Text))
			}
		}
	}
	if all := together(notices); all != nil {
		texts = strings.Split(all.Error(), "\n")
	}
	return texts
}
