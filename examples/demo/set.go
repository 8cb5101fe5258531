package main

import (
	"context"
	"math/rand/v2"
	"sync"
)

// change is the difference between two moments of a set. The keys of added were absent before, and those
// of removed present.
type change struct{ added, removed []string }

// changer is where the keys of a set come from.
type changer interface {
	// next returns the change since the last call; the first call returns all keys. It is not called
	// concurrently.
	next(ctx context.Context) (change, error)
	// skipped returns the number of items that could not be read by the last call of next.
	skipped() int
}

// member is a key of the set.
type member struct {
	key     string
	version uint64 // the first version that contains it
}

// set contains the current keys. It is safe for concurrent use.
type set struct {
	mu      sync.RWMutex
	members []member
	index   map[string]int // of a key in members
	added   uint64         // since the first version
	removed uint64
}

// apply changes the keys. The change is part of a version and of all later ones.
func (s *set) apply(c change, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil {
		s.index = make(map[string]int, len(c.added))
	} else {
		s.added += uint64(len(c.added))
		s.removed += uint64(len(c.removed))
	}
	for _, key := range c.removed {
		i, last := s.index[key], len(s.members)-1
		s.members[i] = s.members[last]
		s.index[s.members[i].key] = i
		s.members = s.members[:last]
		delete(s.index, key)
	}
	for _, key := range c.added {
		s.index[key] = len(s.members)
		s.members = append(s.members, member{key, version})
	}
}

// sample fills dst with random members. It returns none of an empty set.
func (s *set) sample(dst []member, r *rand.Rand) []member {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.members) == 0 {
		return nil
	}
	for i := range dst {
		dst[i] = s.members[r.IntN(len(s.members))]
	}
	return dst
}

// keys returns up to n keys.
func (s *set) keys(n int) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]string, min(n, len(s.members)))
	for i := range keys {
		keys[i] = s.members[i].key
	}
	return keys
}

// size returns the number of keys, and how many were added and removed since the first version.
func (s *set) size() (keys, added, removed uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return uint64(len(s.members)), s.added, s.removed
}
