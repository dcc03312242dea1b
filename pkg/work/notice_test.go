package work_test

import (
	"fmt"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// What was said is not said again, and yet not everything is remembered for ever.
func TestToldHasAnEnd(t *testing.T) {
	w := stream(work.Building)
	for i := range 3000 {
		for range 2 {
			w.Say(fmt.Sprintf("salvage:%d", i), "salvage", "It is saved.", noon)
		}
	}
	if len(w.Outbox) != 3000 || len(w.Told) != 1000 || !w.HasSaid("salvage:2999") || !w.HasSaid("salvage:2000") || w.HasSaid("salvage:1999") {
		t.Errorf("%d to be said, %d said", len(w.Outbox), len(w.Told))
	}
}
