package redisbloom

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

const (
	// Kind is the name of this kind of filter.
	Name = "redisbloom"
	// LayerKind is the kind of its parts. They are no filters by themselves.
	LayerKind = "redisbloom-layer"
)

// The parameters of a state and of its parts, in order. Those of floatNames are
// floats, and fix nothing but the design of layers to come.
var (
	paramNames = []string{"expansion", "options"}
	layerNames = []string{"capacity", "entries", "k", "n2"}
	floatNames = []string{"error-rate", "bits-per-key"}
)

// State returns all there is of the filter: see [umbel.Filter]. Its parts are the
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
			Arrays: []cells.Array{l.cells},
		}
	}
	return s
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt. See SetMaxBytes for how far it grows.
func Open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, fmt.Errorf("redisbloom: a state of kind %.40q: %w", s.Kind, umbel.ErrKind)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	var expansion, options uint64
	if err := s.Params.Uints(paramNames, &expansion, &options); err != nil {
		return nil, err
	}
	if expansion > math.MaxUint32 {
		return nil, fmt.Errorf("redisbloom: an expansion of %d, want at most 2^32 - 1: %w", expansion, umbel.ErrCorrupt)
	}
	if len(s.Arrays) != 0 {
		return nil, fmt.Errorf("redisbloom: %d planes, want none: %w", len(s.Arrays), umbel.ErrCorrupt)
	}
	f := &Filter{
		hasher: s.Hasher, expansion: uint32(expansion), flags: flags(min(options, 1<<32-1)),
		layers: make([]layer, len(s.Parts)),
	}
	for i, p := range s.Parts {
		l, err := openLayer(p, s.Hasher)
		if err != nil {
			return nil, fmt.Errorf("redisbloom: part %d: %w: %w", i, err, umbel.ErrCorrupt)
		}
		f.layers[i] = l
	}
	if err := design.Wrap(f.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	f.maxBytes = growthRoom(f.bytes())
	return f, nil
}

// check returns an error unless there is such a chain; layers are checked each by
// itself.
func (f *Filter) check() error {
	if len(f.layers) == 0 {
		return fmt.Errorf("redisbloom: no layers, want one or more")
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
		return layer{}, fmt.Errorf("%d parameters, %d planes and %d parts, want %d, one of bits and none", len(s.Params), len(s.Arrays), len(s.Parts), whole+len(floatNames))
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
	l.k, l.n2, l.bits = int(min(k, MaxK+1)), uint8(min(n2, 255)), s.Arrays[0].Len
	if err := l.check(); err != nil {
		return layer{}, err
	}
	bits := s.Arrays[0]
	bits.Width = 1
	l.hold(bits)
	return l, nil
}
