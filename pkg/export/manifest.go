package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

const (
	format       = 1
	manifestName = "backburner-export.json"
	stateFolder  = "state/"
	storeFolder  = "stores/"
	maxManifest  = 64 << 20
	// maxFiles and maxBytes are more than any state has: what claims more is not one.
	maxFiles = 20_000_000
	maxBytes = 1 << 40
)

// manifest is the first entry of the file.
type manifest struct {
	Format       int          `json:"format"`
	Schema       int          `json:"schema"` // of the state
	CreatedBy    string       `json:"created_by"`
	CreatedAt    time.Time    `json:"created_at"`
	Files        int          `json:"files"` // that follow
	Bytes        int64        `json:"bytes"` // of all of them
	Repositories []repository `json:"repositories"`
}

// repository is what goes with a repository of the state.
type repository struct {
	ID      string            `json:"id"`
	Base    string            `json:"base"` // branch
	Without string            `json:"without,omitempty"`
	Bundle  string            `json:"bundle,omitempty"` // name of its entry
	Refs    map[string]string `json:"refs,omitempty"`
}

func readManifest(data []byte) (manifest, error) {
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("its manifest: %w", err)
	}
	switch {
	case m.Format > format || m.Schema > work.Schema:
		return m, errors.New("it was written by a newer backburner: upgrade backburner, and import it then")
	case m.Format < 1 || m.Schema < 0 || m.Files < 0 || m.Files > maxFiles || m.Bytes < 0 || m.Bytes > maxBytes:
		return m, errors.New("its manifest makes no sense")
	}
	for _, r := range m.Repositories {
		if why := work.BadID(r.ID); why != "" {
			return m, fmt.Errorf("it has a repository %.100q: %s", r.ID, why)
		}
	}
	return m, nil
}
