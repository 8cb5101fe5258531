// Package incremental provides the incremental Bloom filter: standard Bloom filters of
// limited fill, its layers, which are opened one after the other as keys are added (Hao,
// Kodialam and Lakshman 2008). The filter has only the layers that are open. Its size
// therefore grows with its keys, up to a planned maximum, and its rate never exceeds the
// goal on the way.
//
// A layer is closed when it has as many bits as its share of the rate allows. A key is
// present if any layer has it.
//
// The states and parameters of this kind call a layer a plane. The kind is a baseline of the papers and no
// kind of the library: its name is reserved in the specification (spec/kinds/incremental.md), and this
// package reads what earlier programs wrote.
package incremental

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Name is the name of this kind.
const Name = "incremental"

// Filter is an incremental Bloom filter. Stats, State and Has are safe to call concurrently; everything else
// requires exclusive access.
type Filter struct {
	shape   Shape
	layers  []*bloom.Filter // the open layers
	ones    uint64          // bits of the last layer that are set
	planned umbel.Planned
}

// NewShape returns an empty filter of shape s, whose first layer is open. The error wraps umbel.ErrGoal if
// no filter can have that shape.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	s.Layers = slices.Clone(s.Layers)
	f := &Filter{shape: s}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

// open appends the next layer, which exists. The error wraps umbel.ErrGoal.
func (f *Filter) open() error {
	b, err := bloom.NewShape(f.shape.bloom(len(f.layers)))
	if err == nil {
		f.layers, f.ones = append(f.layers, b), 0
	}
	return err
}

// isFull reports whether the last layer is full.
func (f *Filter) isFull() bool { return f.ones >= f.shape.Layers[len(f.layers)-1].Limit }

// Add adds d unless the filter has it, and reports whether it did. If the newest layer is
// full it opens the next; if that was the last one, it takes d and the rate rises.
func (f *Filter) Add(d umbel.Digest) bool {
	changed, err := f.TryAdd(d)
	return changed || err != nil && f.put(d)
}

// TryAdd is Add, but it refuses a new key if the last layer is full or if the machine cannot
// address the next one: the error then wraps umbel.ErrLimit and f is unchanged. The rate
// therefore stays within the goal.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	if f.Has(d) {
		return false, nil
	}
	if f.isFull() {
		if err := f.checkGrowth(); err != nil {
			return false, err
		}
		if err := f.open(); err != nil { // more than the machine can address
			return false, sentinel.Errorf(umbel.ErrLimit, "%v", err)
		}
	}
	return f.put(d), nil
}

// put adds d to the last layer, counts its ones, and reports whether there are more.
func (f *Filter) put(d umbel.Digest) bool {
	last := f.layers[len(f.layers)-1]
	a, before := last.State().Arrays[0], f.ones
	for _, i := range last.Locate(nil, d) {
		if a.SetBit(i) {
			f.ones++
		}
	}
	return f.ones > before
}

// Has reports whether d may have been added. It is never false for a digest that was.
func (f *Filter) Has(d umbel.Digest) bool {
	return slices.ContainsFunc(f.layers, func(l *bloom.Filter) bool { return l.Has(d) })
}

// Hasher returns the hasher of the keys.
func (f *Filter) Hasher() umbel.Hasher { return f.shape.Hasher }

// Clear removes all keys and closes all layers except the first.
func (f *Filter) Clear() {
	f.layers = f.layers[:1:1]
	f.layers[0].Clear()
	f.ones = 0
}

// NextGrowth returns the bytes that the next new key needs: see [umbel.GrowthForecaster].
func (f *Filter) NextGrowth() (uint64, error) {
	if !f.isFull() {
		return 0, nil
	}
	if err := f.checkGrowth(); err != nil {
		return 0, err
	}
	return f.shape.Layers[len(f.layers)].bytes(), nil
}

// checkGrowth returns an error that wraps umbel.ErrLimit if all layers are open.
func (f *Filter) checkGrowth() error {
	n := len(f.layers)
	if n < len(f.shape.Layers) {
		return nil
	}
	return sentinel.Errorf(umbel.ErrLimit, "incremental: the last of %d layers has reached its limit of %d bits: "+
		"make a filter for more keys", n, f.shape.Layers[n-1].Limit)
}

// Planned returns what the filter was made for: see [umbel.Planner].
func (f *Filter) Planned() umbel.Planned { return f.planned }

// SetPlanned sets what the filter is compared with from now on: see [umbel.Planner].
func (f *Filter) SetPlanned(p umbel.Planned) {
	if err := p.Check(); err != nil {
		panic(err)
	}
	f.planned = p
}

// Shape returns the shape of the filter.
func (f *Filter) Shape() Shape {
	return Shape{Layers: slices.Clone(f.shape.Layers), Hasher: f.shape.Hasher}
}

// paramNames returns the names of the parameters of a state, in order: the number of layers
// and three numbers per layer.
func paramNames(layers int) []string {
	names := []string{"planes"}
	for i := 1; i <= layers; i++ {
		n := strconv.Itoa(i)
		names = append(names, "cells-"+n, "k-"+n, "limit-"+n)
	}
	return names
}

// State returns the complete contents of the filter: see [umbel.Filter]. Its parts are the
// open layers.
func (f *Filter) State() umbel.State {
	layers := f.shape.Layers
	numbers := []uint64{uint64(len(layers))}
	for _, l := range layers {
		numbers = append(numbers, l.M, uint64(l.K), l.Limit)
	}
	s := umbel.State{Kind: Name, Hasher: f.shape.Hasher, Notes: umbel.Notes{Planned: f.planned}}
	for _, l := range f.layers {
		s.Parts = append(s.Parts, l.State())
	}
	for i, name := range paramNames(len(layers)) {
		s.Params = append(s.Params, umbel.Param{Name: name, Value: umbel.Uint(numbers[i])})
	}
	return s
}

// Open returns the filter with state s and takes over its memory. The error wraps
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, sentinel.Errorf(umbel.ErrKind, "incremental: the state has kind %.40q, want %q", s.Kind, Name)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	shape, err := openShape(s)
	if err != nil {
		return nil, err
	}
	if len(s.Arrays) != 0 || len(s.Parts) < 1 || len(s.Parts) > len(shape.Layers) {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "incremental: %d arrays and %d parts, want no array and 1 to %d parts",
			len(s.Arrays), len(s.Parts), len(shape.Layers))
	}
	f := &Filter{shape: shape, planned: s.Planned}
	for i, part := range s.Parts {
		b, err := bloom.Open(part)
		if err != nil && !errors.Is(err, umbel.ErrCorrupt) {
			err = sentinel.Errorf(umbel.ErrCorrupt, "%v", err) // a part of the wrong kind
		}
		if err != nil {
			return nil, fmt.Errorf("incremental: part %d: %w", i, err)
		}
		if got, want := b.Shape(), shape.bloom(i); got != want {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "incremental: part %d has shape %+v, want %+v", i, got, want)
		}
		f.layers, f.ones = append(f.layers, b), b.State().Arrays[0].Nonzero()
	}
	return f, nil
}

// openShape reads the parameters of a state.
func openShape(s umbel.State) (Shape, error) {
	n := (len(s.Params) - 1) / 3
	if n < 1 || n > MaxLayers {
		return Shape{}, sentinel.Errorf(umbel.ErrCorrupt, "incremental: %d parameters, want those of 1 to %d layers", len(s.Params), MaxLayers)
	}
	names := paramNames(n)
	numbers := make([]uint64, len(names))
	dst := make([]*uint64, len(names))
	for i := range dst {
		dst[i] = &numbers[i]
	}
	if err := s.Params.Uints(names, dst...); err != nil {
		return Shape{}, err
	}
	if numbers[0] != uint64(n) {
		return Shape{}, sentinel.Errorf(umbel.ErrCorrupt, "incremental: %d layers, but parameters of %d", numbers[0], n)
	}
	shape := Shape{Layers: make([]Layer, n), Hasher: s.Hasher}
	for i := range shape.Layers {
		v := numbers[1+3*i:]
		shape.Layers[i] = Layer{M: v[0], K: int(min(v[1], bloom.MaxK+1)), Limit: v[2]}
	}
	return shape, wrap(shape.check(), umbel.ErrCorrupt)
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. A layer receives the
// keys that are no false positive in those before it, so after layers with a common rate p
// a key of it stands for 1/(1-p) keys.
func (f *Filter) Stats() umbel.Stats {
	var all umbel.Stats
	var ones, set, below, above float64
	logNegative := 0.0 // logarithm of the fraction of absent keys that no layer so far has
	for i := range len(f.layers) {
		s := f.layers[i].Stats()
		negative := max(math.Exp(logNegative), 0x1p-20) // after a full layer nothing is known
		keys := s.Keys / negative
		below += square((s.Keys-s.Low)/negative) + skipped(s.Keys, negative)
		above += square((s.High-s.Keys)/negative) + skipped(s.Keys, negative)
		all.Keys += keys
		all.Low += s.Low
		all.Cells += s.Cells
		all.Bytes += s.Bytes
		ones += math.Round(s.Fill * float64(s.Cells))
		set += s.Keys * s.K
		logNegative += math.Log1p(-s.FPRate)
	}
	all.FPRate = 0 - math.Expm1(logNegative)
	all.Fill = ones / float64(all.Cells)
	all.K = float64(f.shape.Layers[len(f.layers)-1].K)
	if math.IsInf(all.Keys, 1) { // a layer is full; the lower bound still holds
		all.High = all.Keys
		return all
	}
	if set > 0 {
		all.K = set / all.Keys
	}
	all.Low, all.High = max(0, all.Keys-math.Sqrt(below)), all.Keys+math.Sqrt(above)
	return all
}

func square(x float64) float64 { return x * x }

// skipped returns the square of half the 95 percent interval by which the number of keys deviates of
// which a layer took that many: each was taken with the probability share, and the others were false
// positives of older layers. The number has a negative binomial distribution.
func skipped(taken, share float64) float64 {
	return 1.96 * 1.96 * taken * (1 - share) / (share * share)
}

// wrap returns err with a sentinel, and nil for nil.
func wrap(err, sentinel error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", err, sentinel)
}
