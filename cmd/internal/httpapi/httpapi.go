// Package httpapi serves an engine's filters over HTTP: as JSON, as lines of JSON, as digests, and as
// containers.
package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Options say what the handler serves.
type Options struct {
	Engine   *engine.Engine
	Wait     func(ctx context.Context, pos engine.Position) error // nil: nothing is waited for
	Users    *access.Users                                        // nil: everyone may do all
	Audit    access.Audit
	Hasher   umbel.Hasher // of new filters
	MaxBody  int64        // bytes of one request that isn't streamed
	Ready    func() error // for /readyz
	Metrics  http.Handler // for /metrics, nil: none
	Backup   func(ctx context.Context, w io.Writer) error
	Snapshot func(ctx context.Context) error
	Profile  bool    // serve /debug/pprof to administrators
	Rate     float64 // requests a second of one client; 0: no limit
	Log      *slog.Logger
}

// New returns the handler of all routes.
func New(o Options) http.Handler { panic("todo") }
