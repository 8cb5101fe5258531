package main

import (
	"bytes"
	"io"
	"math/bits"

	"github.com/FastFilter/xorfilter"
	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/greatroar/blobloom"
	bloomfilter "github.com/holiman/bloomfilter/v2"
	parquet "github.com/parquet-go/parquet-go/bloom"
	"github.com/zeebo/xxh3"

	"github.com/umbel-filters/umbel/plan"
)

// The libraries that take a hash of 64 bits.

// holiman locks each call, so its filter may be shared as it is.
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
		// It can't be emptied. The union with its like writes every word of the new
		// filter, so that the additions that follow find them mapped and near.
		clear: func() {
			f, err = f.NewCompatible()
			mustNot(err)
			mustNot(f.UnionInPlace(f))
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

// ristretto's sizes are powers of two. Given bits, it takes the next one below.
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

// blobloomShape is how blobloom sizes a filter. Given bits, it is asked for a rate
// that takes more and told not to take more.
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

// blobloomSync is blobloom's filter for many goroutines.
func blobloomSync(z size, in input) (*subject, error) {
	nbits, nhashes := blobloomShape(z)
	f := blobloom.NewSync(nbits, nhashes)
	var empty bytes.Buffer
	s := &subject{
		bits: (nbits + blobloom.BlockBits - 1) / blobloom.BlockBits * blobloom.BlockBits,
		// It can't be emptied. The union with an empty one writes every word of the new
		// filter, so that the additions that follow find them mapped and near.
		clear: func() {
			f = blobloom.NewSync(nbits, nhashes)
			if empty.Len() == 0 {
				mustNot(second(blobloom.DumpSync(&empty, f, "")))
			}
			l, err := blobloom.NewLoader(bytes.NewReader(empty.Bytes()))
			mustNot(err)
			mustNot(second(l.LoadSync(f)))
		},
		add: func(k *keys) { eachHash(k, func(h uint64) { f.Add(h) }) },
		has: func(k *keys) int { return countHashes(k, func(h uint64) bool { return f.Has(h) }) },
	}
	s.addShared, s.hasShared = s.add, s.has
	return s, nil
}

// parquetGo is a slice of blocks. For a rate it is as long as umbel's splitblock,
// whose formula is parquet-go's filter's too; parquet-go itself has none.
func parquetGo(z size, in input) (*subject, error) {
	m := z.bits()
	if z.rate != 0 {
		var err error
		if m, err = plan.SplitBlockSize(z.keys, z.rate); err != nil {
			return nil, err
		}
	}
	const blockBits = parquet.BlockSize * 8
	f := make(parquet.SplitBlockFilter, max(1, m/blockBits))
	s := &subject{bits: uint64(len(f)) * blockBits, clear: f.Reset}
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
	var room [batch]uint64
	s.addBatch = func(k *keys) {
		eachBatch(k.n, func(i, j int) {
			hs := room[:j-i]
			for h := range hs {
				hs[h] = xxhash.Sum64(k.at(i + h))
			}
			f.InsertBulk(hs)
		})
	}
	return s, nil
}

// fuse8 is made of all keys at once: 9 bits a key and a rate of 1 in 256, whatever
// is asked for.
func fuse8(z size, in input) (*subject, error) {
	f := new(xorfilter.BinaryFuse8)
	s := &subject{}
	s.add = func(k *keys) {
		made, err := xorfilter.PopulateBinaryFuse8(k.hashes)
		mustNot(err)
		f = made
		s.bits = uint64(len(f.Fingerprints)) * 8
	}
	s.has = func(k *keys) int { return countHashes(k, func(h uint64) bool { return f.Contains(h) }) }
	return s, nil
}

// mustNot panics on an error that only a mistake in this program brings about.
func mustNot(err error) {
	if err != nil {
		panic(err)
	}
}

func second[T any](_ T, err error) error { return err }
