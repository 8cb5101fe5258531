// Package redisbloom provides RedisBloom's scalable Bloom filter, bit for bit: BF.RESERVE
// makes it, BF.ADD fills it, BF.SCANDUMP returns its bytes and BF.LOADCHUNK reads them. So
// a filter can move between a Redis server and a Go program in both directions.
//
// A filter has one or more layers. When a layer contains the keys that it was made for, a
// larger layer with half its error rate is added. A key that no layer contains is added to
// the newest. So the rate of all layers together stays below the one reserved (Almeida,
// Baquero, Preguiça and Hutchison 2007, section 4.1).
//
// spec/kinds/redisbloom.md defines the format, which never changes. Bit i of a key in a
// layer of m bits is (H1 + i·H2 mod 2^64) mod m. This is plain double hashing. In small
// layers and at low rates it has more false positives than independent positions.
// Options.Forecast includes them; RedisBloom's own planning does not.
//
// RedisBloom reads filters with [RedisHasher] only.
package redisbloom

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/internal/mem"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// RedisHasher is the hasher of RedisBloom's filters: both MurmurHash64A.
var RedisHasher = umbel.Hasher{Alg: umbel.Murmur64A}

// Filter is a scalable filter with one or more layers. ScanDump and all methods that begin with Has are
// safe to call concurrently with each other; changes are not. A Filter must not be copied, since the copies
// would share memory: use Clone. The zero Filter contains nothing and is a target for UnmarshalBinary;
// adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	hasher    umbel.Hasher
	expansion uint32
	flags     flags
	layers    []layer // oldest first
	maxBytes  uint64  // a new layer takes the filter no further
	planned   umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.hasher, Planned: &f.planned, Zero: len(f.layers) == 0}
}

// withLayers returns a filter with n zero layers. The first is in the same allocation: a server
// has many small filters.
func withLayers(n int) *Filter {
	if n != 1 {
		return &Filter{layers: make([]layer, n)}
	}
	f := new(struct {
		Filter
		first [1]layer
	})
	f.layers = f.first[:]
	return &f.Filter
}

// Add adds d and reports whether the filter changed. It returns false if a layer contains d
// already. If the filter cannot grow, Add adds d to the newest layer beyond its capacity, and
// the rate rises. TryAdd fails instead, as RedisBloom does.
func (f *Filter) Add(d umbel.Digest) bool {
	if !f.newest().isFull() {
		return f.addToNewest(d)
	}
	if f.Has(d) {
		return false
	}
	_ = f.makeRoom()
	return f.put(d)
}

// TryAdd is Add without overfilling: see [umbel.Grower]. The error wraps umbel.ErrLimit if
// the newest layer is full and no layer can be added, because the filter does not scale,
// because of SetMaxBytes, or because the error rate or size of the next layer is out of
// range. A key that the filter contains is never an error.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	if !f.newest().isFull() {
		return f.addToNewest(d), nil
	}
	if f.Has(d) {
		return false, nil
	}
	if err := f.makeRoom(); err != nil {
		return false, err
	}
	return f.put(d), nil
}

// addToNewest adds d to the newest layer, which has room, unless another has it.
func (f *Filter) addToNewest(d umbel.Digest) bool {
	for i := len(f.layers) - 2; i >= 0; i-- {
		if f.layers[i].has(d) {
			return false
		}
	}
	return f.put(d)
}

// put adds d to the newest layer, full or not, and counts it if a bit changed. It doesn't
// count beyond 2^64 - 1 entries in all layers, because the state wouldn't open.
func (f *Filter) put(d umbel.Digest) bool {
	l := f.newest()
	if !l.add(d) {
		return false
	}
	if f.Card() < math.MaxUint64 {
		l.entries++
	}
	return true
}

// Has reports whether d may have been added. It is never false for a key that was.
func (f *Filter) Has(d umbel.Digest) bool {
	for i := len(f.layers) - 1; i >= 0; i-- {
		if f.layers[i].has(d) {
			return true
		}
	}
	return false
}

// Clear removes all keys and all layers except the first.
func (f *Filter) Clear() {
	if len(f.layers) == 0 {
		return
	}
	clear(f.layers[1:])
	f.layers = f.layers[:1]
	f.layers[0].entries = 0
	mem.Clear(f.layers[0].words())
}

// SetMaxBytes sets the maximum memory of the bits of all layers. Without it, a filter from
// Reserve has no limit. A filter that was opened or loaded grows to 64 times its size or to
// 64 MiB, whichever is larger, so that a few untrusted bytes cannot take all memory with the
// first addition.
func (f *Filter) SetMaxBytes(n uint64) { f.maxBytes = n }

// NextGrowth returns the memory that the next new key takes: see [umbel.GrowthForecaster].
func (f *Filter) NextGrowth() (uint64, error) {
	if !f.newest().isFull() {
		return 0, nil
	}
	next, err := f.next()
	return next.bits / 8, err
}

// next returns the layer that would follow the newest, without bits. The error wraps
// umbel.ErrLimit.
func (f *Filter) next() (layer, error) {
	l := f.newest()
	if f.flags.fixed() {
		return layer{}, sentinel.Errorf(umbel.ErrLimit, "redisbloom: non scaling filter is full: it holds %d of %d", l.entries, l.capacity)
	}
	if err := layered.CheckCount(Name, len(f.layers)+1); err != nil {
		return layer{}, err
	}
	next, err := l.next(f.expansion)
	if err != nil {
		return layer{}, err
	}
	if now, more := f.bytes(), next.bits/8; now > f.maxBytes || more > f.maxBytes-now {
		return layer{}, sentinel.Errorf(umbel.ErrLimit, "redisbloom: the next layer takes %d bytes in addition to %d, at most %d are allowed", more, now, f.maxBytes)
	}
	return next, nil
}

// makeRoom appends a layer if the newest is full. The error wraps umbel.ErrLimit.
func (f *Filter) makeRoom() error {
	if !f.newest().isFull() {
		return nil
	}
	next, err := f.next()
	if err != nil {
		return err
	}
	if err := next.allocate(); err != nil {
		return sentinel.Errorf(umbel.ErrLimit, "redisbloom: %w", err)
	}
	f.layers = append(f.layers, next)
	return nil
}

// newest returns the layer to which Add adds.
func (f *Filter) newest() *layer {
	if len(f.layers) == 0 {
		panic(arrays.AddToZero)
	}
	return &f.layers[len(f.layers)-1]
}

// bytes returns the memory of all layers' bits.
func (f *Filter) bytes() uint64 {
	var n uint64
	for _, l := range f.layers {
		n += l.bits / 8
	}
	return n
}

// growthRoom returns the limit of an opened or loaded filter with the given bytes.
func growthRoom(bytes uint64) uint64 { return max(64*bytes, 64<<20) }

// description describes the filter by its type, options and hash algorithm.
func (f *Filter) description() string {
	if f.core().Zero {
		return "redisbloom.Filter{}"
	}
	return fmt.Sprintf("redisbloom.Filter{layers:%d %+v hash:%s}", len(f.layers), f.Options(), f.hasher.Alg)
}
