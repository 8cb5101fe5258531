package squid

import (
	"encoding/binary"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Filter returns the filter with the cells of d, which it copies. It is planned for the capacity of d, and its
// hasher is [Hasher]. The number of additions is not part of a filter: [Filter.Digest] estimates it. The error
// wraps umbel.ErrGoal if no digest has the numbers of d; a full mask is no error.
func (d Digest) Filter() (*Filter, error) {
	if err := d.checkSize(); err != nil {
		return nil, err
	}
	f, err := NewShape(Shape{M: 8 * uint64(len(d.Mask)), Hasher: Hasher})
	if err != nil {
		return nil, err
	}
	b := d.Mask
	for i := range f.words {
		var w [8]byte
		b = b[copy(w[:], b):]
		f.words[i] = binary.LittleEndian.Uint64(w[:])
	}
	p := umbel.Planned{Keys: uint64(d.Capacity), FPRate: plan.Filter{M: f.m, K: K}.FPRate(uint64(d.Capacity))}
	if p.Check() == nil { // the rate of very few bits per entry is 1
		f.planned = p
	}
	return f, nil
}

// Digest returns the cache digest with the cells of f, which it copies. Its capacity is the number of keys that
// f is planned for, if some number of bits per entry gives its size; otherwise the size in bytes with 8 bits
// per entry. Count is the estimated number of keys. It returns an error wrapping umbel.ErrGoal if f has another
// hasher than [Hasher], or if a Squid would refuse the digest: see [Digest.Check].
func (f *Filter) Digest() (Digest, error) {
	if f.hasher != Hasher {
		return Digest{}, sentinel.Errorf(umbel.ErrGoal, "squid: the filter's hasher is %v, Squid's is %v: make the filter with this hasher", f.hasher, Hasher)
	}
	d := Digest{Mask: make([]byte, 0, 8*len(f.words))}
	for _, w := range f.words {
		d.Mask = binary.LittleEndian.AppendUint64(d.Mask, w)
	}
	d.Mask = d.Mask[:f.m/8]
	d.Capacity, d.BitsPerEntry = entries(f.planned.Keys, f.m/8)
	d.Count = uint32(min(math.Round(f.Stats().Keys), math.MaxUint32))
	return d, d.Check()
}

// entries returns a capacity and a number of bits per entry with which a mask has n bytes: see [Filter.Digest].
func entries(keys, n uint64) (capacity uint32, bitsPerEntry uint8) {
	fits := func(b uint64) bool {
		size, err := maskSize(uint32(min(keys, math.MaxUint32)), uint8(min(b, math.MaxUint8)))
		return err == nil && size == n && keys <= math.MaxUint32
	}
	if fits(DefaultBits) { // for up to 7 keys, several numbers fit
		return uint32(keys), DefaultBits
	}
	for b := uint64(1); b <= maxBits; b++ {
		if fits(b) {
			return uint32(keys), uint8(b)
		}
	}
	return uint32(n), 8
}
