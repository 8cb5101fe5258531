package squidpeer

import (
	"context"
	"time"

	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

// Source fetches the digest of one Squid, for package siblings.
type Source struct {
	Fetcher Fetcher
	URL     string // of the digest, from URL
}

// Fetch returns the digest as a filter, and the time for which it is valid: see Fetcher.Fetch.
func (s Source) Fetch(ctx context.Context) (*squid.Filter, time.Duration, error) {
	got, err := s.Fetcher.Fetch(ctx, s.URL)
	if err != nil {
		return nil, 0, err
	}
	f, err := got.Digest.Filter()
	return f, got.Valid, err
}
