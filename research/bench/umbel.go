package main

import (
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/wire"
)

// umbelKind contains the methods of all measured kinds.
type umbelKind interface {
	umbel.Filter
	umbel.Clearer
	Hasher() umbel.Hasher
}

func umbelBloom(z size, in input) (*subject, error) {
	shape, err := bloom.Plan(z.goal(umbel.Hasher{}))
	if err != nil {
		return nil, err
	}
	f, err := bloom.NewShape(shape)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := bloom.Open(s); return err })
	if in == hashed {
		s.add = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.Add(d) }) }
		s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
		s.addShared = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.AddAtomic(d) }) }
		s.hasShared = s.has
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.AddBytes(key) }) }
	s.has = func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.HasBytes(key) }) }
	return s, nil
}

func umbelPartitioned(z size, in input) (*subject, error) {
	shape, err := partitioned.Plan(z.goal(umbel.Hasher{}))
	if err != nil {
		return nil, err
	}
	f, err := partitioned.NewShape(shape)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := partitioned.Open(s); return err })
	if in == hashed {
		s.add = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.Add(d) }) }
		s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
		s.addShared = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.AddAtomic(d) }) }
		s.hasShared = s.has
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.AddBytes(key) }) }
	s.has = func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.HasBytes(key) }) }
	return s, nil
}

func umbelBlocked(z size, in input) (*subject, error) {
	shape, err := blocked.Plan(z.goal(umbel.Hasher{}))
	if err != nil {
		return nil, err
	}
	f, err := blocked.NewShape(shape)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := blocked.Open(s); return err })
	if in == hashed {
		s.add = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.Add(d) }) }
		s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
		s.addShared = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.AddAtomic(d) }) }
		s.hasShared = s.has
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.AddBytes(key) }) }
	s.has = func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.HasBytes(key) }) }
	return s, nil
}

func umbelSplitBlock(z size, in input) (*subject, error) {
	shape, err := splitblock.Plan(z.goal(splitblock.ParquetHasher))
	if err != nil {
		return nil, err
	}
	f, err := splitblock.NewShape(shape)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := splitblock.Open(s); return err })
	if in == hashed {
		s.add = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.Add(d) }) }
		s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
		s.addShared = func(k *keys) { eachDigest(k, func(d umbel.Digest) { f.AddAtomic(d) }) }
		s.hasShared = s.has
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.AddBytes(key) }) }
	s.has = func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.HasBytes(key) }) }
	return s, nil
}

// umbelSubject returns a subject without the loops that make one call per key.
func umbelSubject(f umbelKind, in input, open func(umbel.State) error) *subject {
	s := &subject{
		bits:  f.State().Bytes() * 8,
		clear: f.Clear,
		save:  func(w io.Writer) error { return wire.Write(w, f.State()) },
		load: func(r io.Reader) error {
			state, err := wire.Read(r, wire.NoLimits)
			if err != nil {
				return err
			}
			return open(state)
		},
	}
	if _, ok := f.(umbel.BatchAdder); ok && in != hashed {
		s.addBatch = func(k *keys) {
			eachBatch(k.n, func(i, j int) { umbel.AddKeys(f, k.slices[i:j]) })
		}
		s.hasBatch = func(k *keys) {
			eachBatch(k.n, func(i, j int) { umbel.HasKeys(f, k.answers[i:j], k.slices[i:j]) })
		}
		return s
	}
	if b, ok := f.(umbel.BatchAdder); ok {
		s.addBatch = func(k *keys) {
			eachBatch(k.n, func(i, j int) { b.AddAll(nil, k.digests[i:j]) })
		}
	}
	if b, ok := f.(umbel.BatchQuerier); ok {
		s.hasBatch = func(k *keys) {
			eachBatch(k.n, func(i, j int) { b.HasAll(k.answers[i:j], k.digests[i:j]) })
		}
	}
	if b, ok := f.(umbel.AtomicBatchAdder); ok {
		s.addSharedBatch = func(k *keys) {
			eachBatch(k.n, func(i, j int) { b.AddAllAtomic(k.digests[i:j]) })
		}
	}
	return s
}
