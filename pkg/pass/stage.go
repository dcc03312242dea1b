package pass

import (
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// stage starts the merge preparations of pull requests. A forge without pull
// requests never asks for one, so it has nothing to select there.
type stage struct{}

func (stage) Select(*work.Board, *Batch, time.Time) []Job { return nil }

// ready holds tasks back whose capabilities are not ready. No capability is
// declared without MCP servers, so every task is ready.
type ready struct{}

func (ready) Select(*work.Board, *Batch, time.Time) []Job { return nil }
