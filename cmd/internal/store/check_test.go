package store

import (
	"context"
	"log/slog"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/snapfile"
)

// Check reads the log into e as Open does, and starts nothing.
func Check(ctx context.Context, l oplog.Log, files *snapfile.Dir, e *engine.Engine, o Options) (Report, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r, err := recoverAll(ctx, l, files, e, o)
	return r.report, err
}
