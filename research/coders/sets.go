package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
)

const setsText = `
## Sets

The bound is n log2(1/rate) bits, of any filter. The columns ribbon, sparse, bloom and the packed filters with k = 1 and 2 are messages of umbel; sparse
is the list of positions. Golomb is the code of the sorted hashes in [0, n/rate), with the best parameter. zstd -19, brotli -11 and xz -9e
compress the words of the filter with k = 1.

`

var setColumns = []string{"keys", "rate", "bound", "ribbon", "sparse", "k = 1", "k = 2", "bloom", "Golomb", "zstd", "brotli", "xz"}

const (
	mostCells      = 1 << 31 // of a packed filter
	mostCompressed = 4 << 20 // bytes that a program compresses
)

// digests returns n digests of distinct keys; those of another seed are other keys.
func digests(seed, n uint64) []umbel.Digest {
	r := rand.New(rand.NewPCG(seed, 7))
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
	}
	return ds
}

// setRow returns the sizes of the forms of a set, in the order of setColumns.
func setRow(ctx context.Context, tools programs, n uint64, rate float64) ([]uint64, error) {
	ds := digests(n, n)
	row := []uint64{uint64(math.Ceil(-math.Log2(rate) * float64(n) / 8))}
	for _, k := range []umbel.Kind{ribbon.Kind, sparse.Kind} {
		size, err := packed(k, umbel.Goal{Keys: n, FPRate: rate}, ds)
		if err != nil {
			return nil, err
		}
		row = append(row, size)
	}
	var words []uint64
	for _, k := range []int{1, 2} {
		m := uint64(math.Ceil(-float64(k) * float64(n) / math.Log1p(-math.Pow(rate, 1/float64(k)))))
		if m > mostCells {
			row = append(row, 0)
			continue
		}
		f, err := bloom.NewShape(bloom.Shape{M: m, K: k})
		if err != nil {
			return nil, err
		}
		f.AddAll(nil, ds)
		b, err := wire.Packer{}.Append(nil, f.State())
		if err != nil {
			return nil, err
		}
		if row = append(row, uint64(len(b))); k == 1 {
			words = f.State().Arrays[0].Words
		}
	}
	size, err := packed(bloom.Kind, umbel.Goal{Keys: n, FPRate: rate}, ds)
	if err != nil {
		return nil, err
	}
	row = append(row, size, golombSet(ds, rate))
	sizes, err := tools.compressed(ctx, words)
	return append(row, sizes...), err
}

// packed returns the size of the packed filter of a goal with the given keys.
func packed(k umbel.Kind, g umbel.Goal, ds []umbel.Digest) (uint64, error) {
	f, err := k.New(g, nil)
	if err != nil {
		return 0, err
	}
	umbel.AddAll(f, nil, ds)
	if s, ok := f.(interface{ Seal() error }); ok {
		if err := s.Seal(); err != nil {
			return 0, err
		}
	}
	b, err := wire.Packer{}.Append(nil, f.State())
	return uint64(len(b)), err
}

// golombSet returns the bytes of a Golomb-coded set.
func golombSet(ds []umbel.Digest, rate float64) uint64 {
	span := uint64(math.Round(float64(len(ds)) / rate))
	values := make([]uint64, len(ds))
	for i, d := range ds {
		values[i] = d.H1 % span
	}
	slices.Sort(values)
	return (golomb(slices.Compact(values), span) + 7) / 8
}

// golomb returns the bits of ascending values below span: their differences in Golomb's code (1966) with the parameter that
// is best for gaps of a geometric distribution (Gallager and van Voorhis 1975), the rest in truncated binary.
func golomb(values []uint64, span uint64) (bits uint64) {
	if len(values) == 0 {
		return 0
	}
	p := min(float64(len(values))/float64(span), 0.999999)
	m := max(1, uint64(math.Ceil(-math.Log1p(1-p)/math.Log1p(-p))))
	log := uint64(math.Ceil(math.Log2(float64(m))))
	short := uint64(1)<<log - m // rests that take a bit less
	next := uint64(0)
	for _, v := range values {
		gap := v - next
		next = v + 1
		bits += gap/m + 1 + log
		if gap%m < short {
			bits--
		}
	}
	return bits
}
