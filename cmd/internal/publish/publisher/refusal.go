package publisher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

// Share is the share of the keys of a version that may be lost, more than 0 and at most 1: a flag.
type Share float64

// Set parses a share such as 20% or 100%.
func (l *Share) Set(s string) error {
	if s == "100%" || s == "1" {
		*l = 1
		return nil
	}
	r, err := quantity.ParseRate(s)
	if err != nil {
		return fmt.Errorf("%q, want a share above 0 and at most 100%%", s)
	}
	*l = Share(r)
	return nil
}

func (l Share) String() string { return fmt.Sprintf("%.3g%%", 100*float64(l)) }

// Type names the flag's value in help texts.
func (l *Share) Type() string { return "share" }

// Explain returns an error of a publisher of a file in the words of the flags. It wraps err or its class.
func Explain(file string, err error) error {
	if shrunk, ok := errors.AsType[*share.ShrunkError](err); ok {
		return sentinel.Errorf(shrunk, "%s", shrunkText(file, shrunk))
	}
	switch {
	case errors.Is(err, share.ErrSeed):
		return fmt.Errorf("%s hashes with a secret seed, which subscribers would learn; publish it with --publish-seed if that "+
			"is acceptable: %w", file, share.ErrSeed)
	case errors.Is(err, umbel.ErrMismatch):
		return fmt.Errorf("%s can't be folded by all --folds: %w", file, err)
	}
	return err
}

func shrunkText(file string, e *share.ShrunkError) string {
	if math.IsNaN(e.Last) {
		return "the objects of the last version are lost or damaged, so its keys cannot be compared; publish with --max-shrink 100% to begin a new stream without"
	}
	has := fmt.Sprintf("about %s keys, and the last version has %s", keys(e.Keys), keys(e.Last))
	if !math.IsNaN(e.Common) {
		has = fmt.Sprintf("about %s of the %s keys of the last version", keys(e.Common), keys(e.Last))
	}
	return fmt.Sprintf("%s has %s, of which at most %v may be lost; publish it with --max-shrink 100%% if that is intended", file, has, Share(e.MaxShrink))
}

// keys formats an estimated number of keys.
func keys(n float64) string {
	if math.IsInf(n, 0) {
		return "unknown"
	}
	return quantity.Count(math.Round(n)).String()
}

// explaining is a log handler that explains the errors of a publisher of a file.
type explaining struct {
	slog.Handler
	file string
}

// Handle implements slog.Handler.
func (h explaining) Handle(ctx context.Context, r slog.Record) error {
	explained := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			a = slog.Any(a.Key, Explain(h.file, err))
		}
		explained.AddAttrs(a)
		return true
	})
	return h.Handler.Handle(ctx, explained)
}

// WithAttrs implements slog.Handler.
func (h explaining) WithAttrs(attrs []slog.Attr) slog.Handler {
	return explaining{h.Handler.WithAttrs(attrs), h.file}
}
