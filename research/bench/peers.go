package main

import (
	"bytes"
	"io"
	"math/bits"

	"github.com/FastFilter/xorfilter"
	"github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/greatroar/blobloom"
	bloomfilter "github.com/holiman/bloomfilter/v2"
	parquet "github.com/parquet-go/parquet-go/bloom"
	boom "github.com/tylertreat/BoomFilters"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/zeebo/xxh3"
)

// Libraries that take a 64-bit hash.

// holiman locks each call, so its filter is safe for concurrent use.
func holiman(z size, in input) (*subject, error) {
	f, err := bloomfilter.NewOptimal(z.keys, z.rateOrEqual())
	if z.rate == 0 {
		f, err = bloomfilter.New(z.bits(), uint64(bestK(z.bits(), z.keys)))
	}
	if err != nil {
		return nil, err
	}
	s := &subject{
		bits: f.M(),
		// It can't be cleared. A union with itself writes every word of the new filter, so
		// the following additions find its memory mapped and in cache.
		clear: func() {
			f, err = f.NewCompatible()
			must(err)
			must(f.UnionInPlace(f))
		},
		save: func(w io.Writer) error { _, _, err := f.MarshallToWriter(w); return err },
		load: func(r io.Reader) error { _, err := new(bloomfilter.Filter).UnmarshalFromReader(r); return err },
	}
	if in == hashed {
		s.add = func(k *keys) { eachHash(k, func(h uint64) { f.AddHash(h) }) }
		s.has = func(k *keys) int { return countHashes(k, func(h uint64) bool { return f.ContainsHash(h) }) }
		s.addShared, s.hasShared = s.add, s.has
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.AddHash(xxh3.Hash(key)) }) }
	s.has = func(k *keys) int {
		return countKeys(k, func(key []byte) bool { return f.ContainsHash(xxh3.Hash(key)) })
	}
	return s, nil
}

// ristretto has sizes that are powers of two. Given bits, it uses the next smaller one.
func ristretto(size size, in input) (*subject, error) {
	f := z.NewBloomFilter(float64(size.keys), size.rateOrEqual())
	if size.rate == 0 {
		m := uint64(1) << (bits.Len64(size.bits()) - 1)
		f = z.NewBloomFilter(float64(m), float64(bestK(m, size.keys)))
	}
	const header = 40
	s := &subject{
		bits:  uint64(f.TotalSize()-header) * 8,
		clear: func() { f.Clear() },
	}
	if in == hashed {
		s.add = func(k *keys) { eachHash(k, func(h uint64) { f.Add(h) }) }
		s.has = func(k *keys) int { return countHashes(k, func(h uint64) bool { return f.Has(h) }) }
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.Add(xxh3.Hash(key)) }) }
	s.has = func(k *keys) int {
		return countKeys(k, func(key []byte) bool { return f.Has(xxh3.Hash(key)) })
	}
	return s, nil
}

// blobloomShape returns the size of a filter according to blobloom. Given bits, it requests
// a rate that needs more bits and sets the maximum.
func blobloomShape(z size) (nbits uint64, nhashes int) {
	if z.rate == 0 {
		return blobloom.Optimize(blobloom.Config{Capacity: z.keys, FPRate: 1e-6, MaxBits: z.bits()})
	}
	return blobloom.Optimize(blobloom.Config{Capacity: z.keys, FPRate: z.rate})
}

func blobloomPlain(z size, in input) (*subject, error) {
	f := blobloom.New(blobloomShape(z))
	s := &subject{
		bits:  f.NumBits(),
		clear: f.Clear,
		save:  func(w io.Writer) error { _, err := blobloom.Dump(w, f, ""); return err },
		load: func(r io.Reader) error {
			l, err := blobloom.NewLoader(r)
			if err == nil {
				_, err = l.Load(nil)
			}
			return err
		},
	}
	if in == hashed {
		s.add = func(k *keys) { eachHash(k, func(h uint64) { f.Add(h) }) }
		s.has = func(k *keys) int { return countHashes(k, func(h uint64) bool { return f.Has(h) }) }
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.Add(xxh3.Hash(key)) }) }
	s.has = func(k *keys) int {
		return countKeys(k, func(key []byte) bool { return f.Has(xxh3.Hash(key)) })
	}
	return s, nil
}

// blobloomSync is blobloom's filter for concurrent use.
func blobloomSync(z size, in input) (*subject, error) {
	nbits, nhashes := blobloomShape(z)
	f := blobloom.NewSync(nbits, nhashes)
	var empty bytes.Buffer
	s := &subject{
		bits: (nbits + blobloom.BlockBits - 1) / blobloom.BlockBits * blobloom.BlockBits,
		// It can't be cleared. A union with an empty filter writes every word of the new
		// filter, so the following additions find its memory mapped and in cache.
		clear: func() {
			f = blobloom.NewSync(nbits, nhashes)
			if empty.Len() == 0 {
				must(second(blobloom.DumpSync(&empty, f, "")))
			}
			l, err := blobloom.NewLoader(bytes.NewReader(empty.Bytes()))
			must(err)
			must(second(l.LoadSync(f)))
		},
		add: func(k *keys) { eachHash(k, func(h uint64) { f.Add(h) }) },
		has: func(k *keys) int { return countHashes(k, func(h uint64) bool { return f.Has(h) }) },
	}
	s.addShared, s.hasShared = s.add, s.has
	return s, nil
}

// parquetGo is a slice of blocks. Given a rate, it has the size of umbel's splitblock,
// which has the same rate; parquet-go has no formula.
func parquetGo(z size, in input) (*subject, error) {
	f, s, err := newParquetGo(z)
	if err != nil {
		return nil, err
	}
	if in == hashed {
		s.add = func(k *keys) { eachHash(k, func(h uint64) { f.Insert(h) }) }
		s.has = func(k *keys) int { return countHashes(k, func(h uint64) bool { return f.Check(h) }) }
		s.addBatch = func(k *keys) {
			eachBatch(k.n, func(i, j int) { f.InsertBulk(k.hashes[i:j]) })
		}
		return s, nil
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.Insert(xxhash.Sum64(key)) }) }
	s.has = func(k *keys) int {
		return countKeys(k, func(key []byte) bool { return f.Check(xxhash.Sum64(key)) })
	}
	var buffer [batch]uint64
	s.addBatch = func(k *keys) {
		eachBatch(k.n, func(i, j int) {
			hs := buffer[:j-i]
			for h := range hs {
				hs[h] = xxhash.Sum64(k.at(i + h))
			}
			f.InsertBulk(hs)
		})
	}
	return s, nil
}

// parquetGoXXH3 is parquetGo with a faster hash, which the format doesn't allow.
func parquetGoXXH3(z size, in input) (*subject, error) {
	f, s, err := newParquetGo(z)
	if err != nil {
		return nil, err
	}
	s.add = func(k *keys) { eachKey(k, func(key []byte) { f.Insert(xxh3.Hash(key)) }) }
	s.has = func(k *keys) int {
		return countKeys(k, func(key []byte) bool { return f.Check(xxh3.Hash(key)) })
	}
	return s, nil
}

// newParquetGo returns a filter and its subject without loops.
func newParquetGo(z size) (parquet.SplitBlockFilter, *subject, error) {
	m := z.bits()
	if z.rate != 0 {
		s, err := splitblock.Plan(umbel.Goal{Keys: z.keys, FPRate: z.rate})
		if err != nil {
			return nil, nil, err
		}
		m = s.M
	}
	const blockBits = parquet.BlockSize * 8
	f := make(parquet.SplitBlockFilter, max(1, m/blockBits))
	return f, &subject{bits: uint64(len(f)) * blockBits, clear: f.Reset}, nil
}

// fuse8 is made from all keys at once. It always has 9 bits per key and a rate of 1/256.
func fuse8(z size, in input) (*subject, error) {
	f := new(xorfilter.BinaryFuse8)
	s := &subject{}
	s.add = func(k *keys) {
		made, err := xorfilter.PopulateBinaryFuse8(k.hashes)
		must(err)
		f = made
		s.bits = uint64(len(f.Fingerprints)) * 8
	}
	s.has = func(k *keys) int { return countHashes(k, func(h uint64) bool { return f.Contains(h) }) }
	return s, nil
}

// must panics on an error that only a bug in this program can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func second[T any](_ T, err error) error { return err }

// Libraries that hash the keys.

func bitsAndBlooms(z size, in input) (*subject, error) {
	f := bloom.NewWithEstimates(uint(z.keys), z.rateOrEqual())
	if z.rate == 0 {
		f = bloom.New(uint(z.bits()), uint(bestK(z.bits(), z.keys)))
	}
	return &subject{
		bits:  uint64(f.Cap()),
		clear: func() { f.ClearAll() },
		add:   func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:   func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
		save:  func(w io.Writer) error { _, err := f.WriteTo(w); return err },
		load:  func(r io.Reader) error { _, err := new(bloom.BloomFilter).ReadFrom(r); return err },
	}, nil
}

func boomClassic(z size, in input) (*subject, error) {
	f := boom.NewBloomFilter(uint(z.keys), z.rateOrEqual())
	return &subject{
		bits:  uint64(f.Capacity()),
		clear: func() { f.Reset() },
		add:   func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:   func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
		save:  func(w io.Writer) error { _, err := f.WriteTo(w); return err },
		load:  func(r io.Reader) error { _, err := new(boom.BloomFilter).ReadFrom(r); return err },
	}, nil
}

// boomCounting has four bits per counter. Its index of a bit has 32 bits, so it returns nil
// for larger filters.
func boomCounting(z size, in input) (*subject, error) {
	const width, limit = 4, 1 << 32
	if uint64(boom.OptimalM(uint(z.keys), z.rateOrEqual())) > limit/width {
		return nil, nil
	}
	f := boom.NewCountingBloomFilter(uint(z.keys), width, z.rateOrEqual())
	return &subject{
		bits:   uint64(f.Capacity()) * width,
		clear:  func() { f.Reset() },
		add:    func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:    func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
		remove: func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.TestAndRemove(key) }) },
	}, nil
}

// boomScalable has layers of equal size with decreasing rates.
func boomScalable(z size, in input) (*subject, error) {
	f := boom.NewScalableBloomFilter(uint(z.keys/growth), z.rateOrEqual(), 0.8)
	return &subject{
		grown: func() uint64 { return uint64(f.Capacity()) },
		clear: func() { f.Reset() },
		add:   func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:   func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
	}, nil
}

func boomPartitioned(z size, in input) (*subject, error) {
	f := boom.NewPartitionedBloomFilter(uint(z.keys), z.rateOrEqual())
	return &subject{
		bits:  uint64(f.Capacity()),
		clear: func() { f.Reset() },
		add:   func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:   func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
		save:  func(w io.Writer) error { _, err := f.WriteTo(w); return err },
		load:  func(r io.Reader) error { _, err := new(boom.PartitionedBloomFilter).ReadFrom(r); return err },
	}, nil
}
