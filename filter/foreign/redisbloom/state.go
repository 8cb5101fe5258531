package redisbloom

import (
	"fmt"
	"math"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

const (
	// Name is the name of this kind.
	Name = "redisbloom"
	// LayerKind is the kind of the parts of a state. A part alone is not a filter.
	LayerKind = "redisbloom-layer"
)

// The parameters of a state and of its parts, in order. Those of floatNames are floats, and
// affect only the design of later layers.
var (
	paramNames = []string{"expansion", "options"}
	layerNames = []string{"capacity", "entries", "k", "n2"}
	floatNames = []string{"error-rate", "bits-per-key"}
)

// State returns the complete contents of the filter: see [umbel.Filter]. Its parts are the
// layers, oldest first.
func (f *Filter) State() umbel.State {
	s := umbel.State{
		Kind:   Name,
		Hasher: f.hasher,
		Params: umbel.Params{
			{Name: "expansion", Value: umbel.Uint(uint64(f.expansion))},
			{Name: "options", Value: umbel.Uint(uint64(f.flags))},
		},
		Parts: make([]umbel.State, len(f.layers)),
		Notes: umbel.Notes{Planned: f.planned},
	}
	for i, l := range f.layers {
		s.Parts[i] = umbel.State{
			Kind:   LayerKind,
			Hasher: f.hasher,
			Params: umbel.Params{
				{Name: "capacity", Value: umbel.Uint(l.capacity)},
				{Name: "entries", Value: umbel.Uint(l.entries)},
				{Name: "k", Value: umbel.Uint(uint64(l.k))},
				{Name: "n2", Value: umbel.Uint(uint64(l.n2))},
				{Name: "error-rate", Value: umbel.Float(l.rate)},
				{Name: "bits-per-key", Value: umbel.Float(l.bitsPerKey)},
			},
			Arrays: []cells.Array{l.array()},
		}
	}
	return s
}

// Open returns the filter with state s and takes over its memory. SetMaxBytes describes its
// limit. The error wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, sentinel.Errorf(umbel.ErrKind, "redisbloom: the state has kind %.40q, want %q", s.Kind, Name)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	var expansion, options uint64
	if err := s.Params.Uints(paramNames, &expansion, &options); err != nil {
		return nil, err
	}
	if expansion > math.MaxUint32 {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "redisbloom: an expansion of %d, want at most 2^32 - 1", expansion)
	}
	if len(s.Arrays) != 0 {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "redisbloom: %d planes, want none", len(s.Arrays))
	}
	f := withLayers(len(s.Parts))
	f.hasher, f.expansion, f.flags = s.Hasher, uint32(expansion), flags(min(options, 1<<32-1))
	f.planned = s.Planned
	for i, p := range s.Parts {
		l, err := openLayer(p, s.Hasher)
		if err != nil {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "redisbloom: part %d: %w", i, err)
		}
		f.layers[i] = l
	}
	if err := sentinel.Wrap(umbel.ErrCorrupt, f.check()); err != nil {
		return nil, err
	}
	f.maxBytes = growthRoom(f.bytes())
	return f, nil
}

// check returns an error if the layers do not fit together. It does not check each layer.
func (f *Filter) check() error {
	if len(f.layers) == 0 || len(f.layers) > layered.Max {
		return fmt.Errorf("redisbloom: %d layers, want 1 to %d", len(f.layers), layered.Max)
	}
	if f.expansion == 0 && !f.flags.fixed() {
		return fmt.Errorf("redisbloom: an expansion of 0 in a filter that scales")
	}
	if _, err := f.items(); err != nil {
		return err
	}
	return f.flags.check()
}

// items returns the sum of all layers' entries.
func (f *Filter) items() (uint64, error) {
	var sum uint64
	for i := range f.layers {
		n := f.layers[i].entries
		if n > math.MaxUint64-sum {
			return 0, fmt.Errorf("redisbloom: a layer of %d entries behind others of %d, want at most 2^64 - 1 in all", n, sum)
		}
		sum += n
	}
	return sum, nil
}

func openLayer(s umbel.State, h umbel.Hasher) (layer, error) {
	if s.Kind != LayerKind || s.Hasher != h {
		return layer{}, fmt.Errorf("kind %s and hasher %v, want %s and %v", s.Kind, s.Hasher, LayerKind, h)
	}
	whole := len(layerNames)
	if len(s.Params) != whole+len(floatNames) || len(s.Arrays) != 1 || len(s.Parts) != 0 || s.Arrays[0].Width > 1 {
		return layer{}, fmt.Errorf("%d parameters, %d planes and %d parts, want %d, one of bits and none", len(s.Params),
			len(s.Arrays), len(s.Parts), whole+len(floatNames))
	}
	var l layer
	var k, n2 uint64
	if err := s.Params[:whole].Uints(layerNames, &l.capacity, &l.entries, &k, &n2); err != nil {
		return layer{}, err
	}
	for i, dst := range []*float64{&l.rate, &l.bitsPerKey} {
		p := s.Params[whole+i]
		if p.Name != floatNames[i] || !p.Value.IsFloat() {
			return layer{}, fmt.Errorf("parameter %d is %q = %v, want a float %q", whole+i, p.Name, p.Value, floatNames[i])
		}
		*dst = p.Value.Float()
	}
	l.k, l.n2, l.bits = int32(min(k, maxK+1)), uint8(min(n2, 255)), s.Arrays[0].Len
	if err := l.check(); err != nil {
		return layer{}, err
	}
	bits := s.Arrays[0]
	bits.Width = 1
	l.hold(bits)
	return l, nil
}

// Stats measures the filter: see [umbel.Filter]. It reads the bits of all layers and ignores
// the counted entries, which are not exact after a merge and not trusted in a loaded filter.
// Keys is the sum over the layers, each divided by the share of keys that are not false
// positives of older layers. K is that of the newest layer. The Stats of the zero Filter are
// zero.
func (f *Filter) Stats() umbel.Stats {
	if len(f.layers) == 0 {
		return umbel.Stats{}
	}
	s := umbel.Stats{K: float64(f.newest().k)}
	var ones uint64
	var low, high float64 // squares of the distances from Keys to Low and High
	missed := 0.0         // rate of the layers so far
	for _, l := range f.layers {
		n := l.array().Nonzero()
		e := arrays.EstimateKeys(l.copies(), func(r uint64) plan.Estimate {
			return doublehash.Keys(l.bits/r, int(l.k), l.foldedOnes(r))
		})
		share := max(1-missed, 0x1p-20) // after a full layer nothing is known
		skipped := layered.Skipped(e.Value, share)
		e.Low, e.Value, e.High = e.Low/share, e.Value/share, e.High/share
		s.Low += e.Low
		s.Keys += e.Value
		low += square(e.Value-e.Low) + skipped
		high += square(e.High-e.Value) + skipped
		missed += (1 - missed) * doublehash.FPRateAtFill(l.bits, int(l.k), float64(n)/float64(l.bits))
		ones += n
		s.Cells += l.bits
		s.Bytes += l.array().Bytes()
	}
	if s.High = math.Inf(1); !math.IsInf(s.Keys, 1) {
		s.Low, s.High = max(s.Keys-math.Sqrt(low), s.Low), s.Keys+math.Sqrt(high)
	}
	s.Fill = float64(ones) / float64(s.Cells)
	s.FPRate = missed
	return s
}

func square(x float64) float64 { return x * x }

// Info is the reply of BF.INFO.
type Info struct {
	Capacity  uint64 // keys that all layers are made for
	Size      uint64 // bytes, as RedisBloom counts its own
	Filters   int    // layers
	Items     uint64 // additions that changed the filter, at most 2^64 - 1
	Expansion uint32 // growth of layers; 0, which BF.INFO shows as null, if it doesn't scale
}

// Info returns the reply of BF.INFO. It reads no bits.
func (f *Filter) Info() Info {
	info := Info{Size: 32 + 64*uint64(len(f.layers)) + f.bytes(), Filters: len(f.layers), Items: f.Card(), Expansion: f.expansion}
	if f.flags.fixed() {
		info.Expansion = 0
	}
	for _, l := range f.layers {
		info.Capacity += min(l.capacity, math.MaxUint64-info.Capacity)
	}
	return info
}

// Card returns the reply of BF.CARD: the number of additions that changed the filter, at most
// 2^64 - 1. This is the number of distinct keys without those that were false positives when
// they were added; after a Merge it is an estimate. Stats estimates from the bits.
func (f *Filter) Card() uint64 {
	n, _ := f.items()
	return n
}

// Debug returns the lines of BF.DEBUG: the number of items, then one line per layer, oldest
// first.
func (f *Filter) Debug() []string {
	lines := []string{fmt.Sprintf("size:%d", f.Card())}
	for _, l := range f.layers {
		lines = append(lines, fmt.Sprintf("bytes:%d bits:%d hashes:%d hashwidth:64 capacity:%d size:%d ratio:%s",
			l.bits/8, l.bits, l.k, l.capacity, l.entries, strconv.FormatFloat(l.rate, 'g', 6, 64)))
	}
	return lines
}
