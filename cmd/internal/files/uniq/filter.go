package uniq

import (
	"context"
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
)

// Batch is the largest number of keys of one call of [Seen.Look]: their digests stay in cache.
const Batch = 1024

// Seen is the set of keys that were seen.
type Seen interface {
	// Look sets known[i] to whether keys[i] was seen before, earlier in keys included. There are at
	// most Batch keys.
	Look(ctx context.Context, known []bool, keys [][]byte) error
	// Remember adds the first n keys of the last Look.
	Remember(n int)
}

// Filter is a [Seen] in memory. It is not safe for concurrent use.
type Filter struct {
	f     umbel.Filter
	grow  umbel.Grower   // nil: f does not limit its keys
	clock umbel.Advancer // nil: no key expires by time
	now   func() uint64  // the time for clock
	time  uint64         // of the last Advance

	digests []umbel.Digest
	known   []bool
	first   [2 * Batch]uint16 // hash table of the new keys of a batch: index + 1 by digest

	changed bool
	full    error
}

// NewFilter returns the set of the keys in f. If now isn't nil, f is an umbel.Advancer, and now
// returns its time; while now is before f's own time, that stays.
func NewFilter(f umbel.Filter, now func() uint64) *Filter {
	s := &Filter{f: f, now: now, digests: make([]umbel.Digest, 0, Batch)}
	s.grow, _ = f.(umbel.Grower)
	if now != nil {
		s.clock = f.(umbel.Advancer)
	}
	return s
}

// Look implements [Seen]. It returns an error for a key that is no digest, if f's hash is "caller".
func (s *Filter) Look(_ context.Context, known []bool, list [][]byte) error {
	s.Advance()
	s.digests = s.digests[:0]
	h := s.f.Hasher()
	for _, key := range list {
		d, err := keys.Digest(h, key)
		if err != nil {
			s.digests = s.digests[:0]
			return err
		}
		s.digests = append(s.digests, d)
	}
	s.known = known[:len(list)]
	umbel.HasAll(s.f, s.known, s.digests)
	clear(s.first[:])
	for i, yes := range s.known {
		if !yes {
			s.known[i] = s.repeated(i)
		}
	}
	return nil
}

// repeated reports whether the digest i of the batch is that of an earlier new key, and otherwise
// enters it into the table.
func (s *Filter) repeated(i int) bool {
	for at := s.digests[i].H1 % uint64(len(s.first)); ; at = (at + 1) % uint64(len(s.first)) {
		switch e := s.first[at]; {
		case e == 0:
			s.first[at] = uint16(i + 1)
			return false
		case s.digests[e-1] == s.digests[i]:
			return true
		}
	}
}

// Remember implements [Seen]. A key that was known is added again only if f has a clock: it then
// expires later.
func (s *Filter) Remember(n int) {
	for i, d := range s.digests[:n] {
		if !s.known[i] || s.clock != nil {
			s.add(d)
		}
	}
}

// add adds a digest, beyond the limit of f if necessary.
func (s *Filter) add(d umbel.Digest) {
	s.changed = true
	if s.grow != nil && s.full == nil {
		_, err := s.grow.TryAdd(d)
		if !errors.Is(err, umbel.ErrLimit) {
			return
		}
		s.full = err
	}
	s.f.Add(d)
}

// Advance forgets what has expired, if f follows a clock. Look does so first.
func (s *Filter) Advance() {
	if s.clock == nil {
		return
	}
	if now := s.now(); now > s.time && s.clock.Advance(now) == nil {
		s.time, s.changed = now, true
	}
}

// Full returns the error wrapping umbel.ErrLimit of the first key beyond the limit of f, and nil
// if there was none. From that key on the rate rises.
func (s *Filter) Full() error { return s.full }

// Grows reports whether f grows or has a limit, which Full reports. The rate of another filter rises with each key.
func (s *Filter) Grows() bool { return s.grow != nil }

// Changed reports whether f has changed since the last call.
func (s *Filter) Changed() bool {
	changed := s.changed
	s.changed = false
	return changed
}
