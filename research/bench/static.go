package main

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/FastFilter/xorfilter"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

// staticRates contains the rates of the table. At 0.0216 a filter has eight bits per key.
var staticRates = []float64{0.1, 0.0216, 0.01, 0.001, 1e-6}

// staticCells is the largest number of cells per key of a packed filter.
const staticCells = 64

// staticSet is a representation of a set that does not change.
type staticSet struct {
	name string
	// bits makes the set and returns the bits of its memory, or of the blocks of its
	// message; 0 if the set does not exist for the rate.
	bits func(k *keys, rate float64) (uint64, error)
}

var staticSets = []staticSet{
	{"umbel bloom", bloomBits},
	{fmt.Sprintf("umbel bloom of up to %d cells per key, packed", staticCells), packedBits},
	{"umbel sparse", sparseBits},
	{"umbel sparse, packed as bloom", sparseMessageBits},
	{"umbel ribbon", ribbonBits},
	{"binary fuse, of 8, 16 or 32 bits", fuseBits},
	{"Golomb-coded set", codedSetBits},
}

// runStatic measures the sizes of static sets of n keys for each rate.
func runStatic(n uint64, o options, p *progress) (*Table, error) {
	p.scope = "static/sizes/n=" + short(n)
	t := &Table{
		Section: "static", Path: p.scope, Unit: "Bits per key",
		Title: fmt.Sprintf("Static sets of %s keys, by rate", short(n)),
	}
	least := &Row{Name: "lower bound of any filter", Figures: map[string]float64{}}
	for _, rate := range staticRates {
		t.Figures = append(t.Figures, rateColumn(rate))
		least.Figures[rateColumn(rate)] = -math.Log2(rate)
	}
	t.Rows = []*Row{least}
	k := makeKeys(hashed, 0, int(n))
	for _, h := range staticSets {
		if !o.only.MatchString(t.Path + "/" + h.name) {
			continue
		}
		row := &Row{Name: h.name, Figures: map[string]float64{}}
		t.Rows = append(t.Rows, row)
		for _, rate := range staticRates {
			p.show("%s, rate %g", h.name, rate)
			b, err := h.bits(k, rate)
			if err != nil {
				return nil, fmt.Errorf("%s: %s, rate %g: %w", t.Path, h.name, rate, err)
			}
			if b > 0 {
				row.Figures[rateColumn(rate)] = float64(b) / float64(n)
			}
			free()
		}
	}
	if len(t.Rows) == 1 {
		return nil, nil
	}
	return t, nil
}

func rateColumn(rate float64) string { return fmt.Sprintf("%.4g %%", rate*100) }

func bloomBits(k *keys, rate float64) (uint64, error) {
	s, err := bloom.Plan(umbel.Goal{Keys: uint64(k.n), FPRate: rate})
	return s.M, err
}

func packedBits(k *keys, rate float64) (uint64, error) {
	n := uint64(k.n)
	best, err := plan.CompressedSearch{Keys: n, Cells: staticCells * n}.MinBits(rate)
	if err != nil {
		return 0, err
	}
	f, err := bloom.NewShape(bloom.Shape{M: best.M, K: best.K})
	if err != nil {
		return 0, err
	}
	f.AddAll(nil, k.digests)
	packed, err := wire.Packer{}.Append(nil, f.State())
	return blockBits(uint64(len(packed))), err
}

// blockBits returns the bits of a container's blocks.
func blockBits(bytes uint64) uint64 { return (bytes - uint64(containerHead())) * 8 }

func sparseOf(k *keys, rate float64) (*sparse.Filter, error) {
	s, err := sparse.Plan(umbel.Goal{Keys: uint64(k.n), FPRate: rate})
	if err != nil {
		return nil, err
	}
	f, err := sparse.NewShape(s)
	if err != nil {
		return nil, err
	}
	f.AddAll(nil, k.digests)
	f.Compact()
	return f, nil
}

func sparseBits(k *keys, rate float64) (uint64, error) {
	f, err := sparseOf(k, rate)
	if err != nil {
		return 0, err
	}
	return f.State().Bytes() * 8, nil
}

// blockCells is the number of cells in a block of a container.
const blockCells = 1 << 19

// sparseMessageBits returns 0 if the array has more blocks than keys, because such a message
// is not useful.
func sparseMessageBits(k *keys, rate float64) (uint64, error) {
	f, err := sparseOf(k, rate)
	if err != nil || f.Shape().M > blockCells*uint64(k.n) {
		return 0, err
	}
	var n counter
	err = f.WriteBloom(&n, wire.Packer{})
	return blockBits(uint64(n)), err
}

// counter counts the bytes written to it.
type counter uint64

func (n *counter) Write(b []byte) (int, error) {
	*n += counter(len(b))
	return len(b), nil
}

func ribbonBits(k *keys, rate float64) (uint64, error) {
	s, err := ribbon.Plan(umbel.Goal{Keys: uint64(k.n), FPRate: rate})
	if err != nil {
		return 0, err
	}
	f, err := ribbon.NewShape(s)
	if err != nil {
		return 0, err
	}
	umbel.AddAll(f, nil, k.digests)
	err = f.Seal()
	return f.State().Bytes() * 8, err
}

// fuseBits returns the bits of the smallest binary fuse filter whose rate is low enough.
func fuseBits(k *keys, rate float64) (uint64, error) {
	switch {
	case rate >= 1.0/(1<<8):
		return fuseOf[uint8](k, 8)
	case rate >= 1.0/(1<<16):
		return fuseOf[uint16](k, 16)
	}
	return fuseOf[uint32](k, 32)
}

func fuseOf[T xorfilter.Unsigned](k *keys, width uint64) (uint64, error) {
	f, err := xorfilter.NewBinaryFuse[T](k.hashes)
	if err != nil {
		return 0, err
	}
	return uint64(len(f.Fingerprints)) * width, nil
}

// codedSetBits returns the size of a Golomb-coded set as in BIP 158: sorted hashes in
// [0, n/rate), with their differences in a Rice code.
func codedSetBits(k *keys, rate float64) (uint64, error) {
	span := uint64(math.Round(float64(k.n) / rate))
	values := make([]uint64, k.n)
	for i, h := range k.hashes {
		values[i], _ = bits.Mul64(h, span)
	}
	slices.Sort(values)
	least := uint64(math.MaxUint64)
	for p := range uint64(32) {
		sum, last := uint64(0), uint64(0)
		for _, v := range values {
			sum += (v-last)>>p + 1 + p
			last = v
		}
		least = min(least, sum)
	}
	return least, nil
}

// umbelSparse is made from all keys at once, because single additions rebuild its lists
// repeatedly.
func umbelSparse(z size, in input) (*subject, error) {
	shape, err := sparse.Plan(z.goal(umbel.Hasher{}))
	if err != nil {
		return nil, err
	}
	f, err := sparse.NewShape(shape)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := sparse.Open(s); return err })
	s.grown = func() uint64 { return f.State().Bytes() * 8 }
	s.add = func(k *keys) {
		f.Clear()
		f.AddAll(nil, k.digests)
		f.Compact()
	}
	s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
	return s, nil
}

func umbelRibbon(z size, in input) (*subject, error) {
	shape, err := ribbon.Plan(z.goal(umbel.Hasher{}))
	if err != nil {
		return nil, err
	}
	f, err := ribbon.NewShape(shape)
	if err != nil {
		return nil, err
	}
	s := umbelSubject(f, in, func(s umbel.State) error { _, err := ribbon.Open(s); return err })
	s.grown = func() uint64 { return f.State().Bytes() * 8 }
	s.add = func(k *keys) {
		f.Clear()
		umbel.AddAll(f, nil, k.digests)
		must(f.Seal())
	}
	s.has = func(k *keys) int { return countDigests(k, func(d umbel.Digest) bool { return f.Has(d) }) }
	return s, nil
}
