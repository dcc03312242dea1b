package github

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"
)

const (
	maxTagged = 64 << 10 // bytes of an answer worth keeping
	maxTags   = 500
	tagLife   = 7 * 24 * time.Hour // of one that is not asked for
)

// Tag is an answer as it was last read, and the name of that version. Asking
// whether it still holds counts against no limit when it does.
type Tag struct {
	ETag string          `json:"etag"`
	Body json.RawMessage `json:"body"`
	Link string          `json:"link,omitempty"` // the header: where the next page is
	At   time.Time       `json:"at"`             // last seen to hold
}

// tagStore is the tags by path and query. Only the transport, which has one
// request at a time, uses it.
type tagStore struct {
	tags map[string]Tag
}

func newTagStore(tags map[string]Tag) *tagStore {
	s := &tagStore{tags: make(map[string]Tag)}
	maps.Copy(s.tags, tags)
	return s
}

// find is the tag of a request; the key is "" where there is nothing to keep.
func (s *tagStore) find(req *http.Request) (key string, t Tag) {
	if req.Method != http.MethodGet {
		return "", Tag{}
	}
	key = req.URL.RequestURI()
	return key, s.tags[key]
}

// keep remembers an answer that has a version.
func (s *tagStore) keep(key string, a answer, now time.Time) {
	etag := a.header.Get("ETag")
	if key == "" || a.err != nil || a.status != http.StatusOK || etag == "" || len(a.body) > maxTagged || !json.Valid(a.body) {
		return
	}
	s.tags[key] = Tag{ETag: etag, Body: a.body, Link: a.header.Get("Link"), At: now.UTC()}
}

// recall is the answer that GitHub says still holds.
func (s *tagStore) recall(key string, t Tag, a answer, now time.Time) answer {
	t.At = now.UTC()
	s.tags[key] = t
	a.status, a.body = http.StatusOK, t.Body
	a.header = a.header.Clone()
	a.header.Set("Content-Type", "application/json; charset=utf-8")
	a.header.Del("Content-Length")
	if t.Link != "" {
		a.header.Set("Link", t.Link)
	}
	return a
}

// snapshot is what is worth keeping until the next tick: the newest.
func (s *tagStore) snapshot(now time.Time) map[string]Tag {
	kept := make(map[string]Tag)
	newest := slices.SortedFunc(maps.Keys(s.tags), func(x, y string) int { return s.tags[y].At.Compare(s.tags[x].At) })
	for _, key := range newest[:min(len(newest), maxTags)] {
		if now.Sub(s.tags[key].At) < tagLife {
			kept[key] = s.tags[key]
		}
	}
	return kept
}
