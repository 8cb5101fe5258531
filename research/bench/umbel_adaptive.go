package main

import (
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/weighted"
)

// Kinds with removal, weights or growth.

func umbelCounting(z size, in input) (*subject, error) {
	s, _, err := countingSubject(z, in)
	return s, err
}

// umbelCountingView is a counting filter with its view as a Bloom filter.
func umbelCountingView(z size, in input) (*subject, error) {
	s, f, err := countingSubject(z, in)
	if err != nil {
		return nil, err
	}
	s.bits += 8 * allocated(func() { f.View() })
	return s, nil
}

func countingSubject(z size, in input) (*subject, *counting.Filter, error) {
	shape, err := counting.Plan(z.goal(umbel.Hasher{}))
	if err != nil {
		return nil, nil, err
	}
	f, err := counting.NewShape(shape)
	if err != nil {
		return nil, nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := counting.Open(s); return err })
	if in == hashed {
		s.add = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.Add(d) }) }
		s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
		s.remove = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Remove(d) }) }
		return s, f, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.AddBytes(key) }) }
	s.has = func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.HasBytes(key) }) }
	s.remove = func(k *keys) int {
		return countKeys(k, func(key []byte) bool { return f.Remove(f.Hasher().HashBytes(key)) })
	}
	return s, f, nil
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// firstHot is the number of the first hot key. No filter contains hot keys and no timing
// queries them: the measurement is what their table costs other keys.
const firstHot = absent << 1

// umbelWeighted is a filter of the standard size with a table of hot keys.
func umbelWeighted(z size, _ input) (*subject, error) {
	like, err := bloom.Plan(z.goal(umbel.Hasher{}))
	if err != nil {
		return nil, err
	}
	return weightedSubject(z, weighted.Shape{
		M: like.M, Group: like.Group,
		Classes: []weighted.Class{{K: like.K}, {K: 2 * like.K, Queries: 0.5}},
	})
}

// umbelWeightedPlanned is planned for half of the queries being for hot keys. With its
// table, it has the memory of the standard filter.
func umbelWeightedPlanned(z size, _ input) (*subject, error) {
	like, err := bloom.Plan(z.goal(umbel.Hasher{}))
	if err != nil {
		return nil, err
	}
	goal := umbel.Goal{Keys: z.keys, Bytes: like.M/8 - 8*hotKeys(z)}
	shape, err := weighted.Plan(goal, weighted.Class{Members: 1, Queries: 1}, weighted.Class{Members: 0.01, Queries: 1})
	if err != nil {
		return nil, err
	}
	return weightedSubject(z, shape)
}

func hotKeys(z size) uint64 { return z.keys / 100 }

func weightedSubject(z size, shape weighted.Shape) (*subject, error) {
	for _, d := range makeKeys(hashed, firstHot, int(hotKeys(z))).digests {
		shape.Hot = append(shape.Hot, weighted.Hot{Digest: d, Class: 1})
	}
	f, err := weighted.NewShape(shape)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, hashed, func(s umbel.State) error { _, err := weighted.Open(s); return err })
	s.add = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.Add(d) }) }
	s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
	return s, nil
}

// growth is the ratio of the added keys to the planned keys of growing filters.
const growth = 100

func umbelScalable(z size, in input) (*subject, error) {
	shape, err := scalable.Plan(umbel.Goal{Keys: z.keys / growth, FPRate: z.rateOrEqual()})
	if err != nil {
		return nil, err
	}
	f, err := scalable.NewShape(shape)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := scalable.Open(s); return err })
	s.grown = func() uint64 { return f.State().Bytes() * 8 }
	if in == hashed {
		s.add = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.Add(d) }) }
		s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.AddBytes(key) }) }
	s.has = func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.HasBytes(key) }) }
	return s, nil
}

func umbelRedisbloom(z size, in input) (*subject, error) {
	options, err := redisbloom.Plan(umbel.Goal{Keys: z.keys / growth, FPRate: z.rateOrEqual()})
	if err != nil {
		return nil, err
	}
	f, err := redisbloom.Reserve(options)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := redisbloom.Open(s); return err })
	s.grown = func() uint64 { return f.State().Bytes() * 8 }
	if in == hashed {
		s.add = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.Add(d) }) }
		s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.AddBytes(key) }) }
	s.has = func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.HasBytes(key) }) }
	return s, nil
}
