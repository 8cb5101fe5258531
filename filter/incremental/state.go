package incremental

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is the name of this kind of filter.
const Name = "incremental"

// paramNames returns the names of the parameters of a state, in order: how many
// planes there may be, and three numbers for each.
func paramNames(planes int) []string {
	names := []string{"planes"}
	for i := 1; i <= planes; i++ {
		n := strconv.Itoa(i)
		names = append(names, "cells-"+n, "k-"+n, "limit-"+n)
	}
	return names
}

// State returns all there is of the filter: see [umbel.Filter]. Its parts are the
// planes that are open.
func (f *Filter) State() umbel.State {
	planes := f.shape.Planes
	numbers := []uint64{uint64(len(planes))}
	for _, p := range planes {
		numbers = append(numbers, p.M, uint64(p.K), p.Limit)
	}
	s := umbel.State{Kind: Name, Hasher: f.shape.Hasher}
	for i, name := range paramNames(len(planes)) {
		s.Params = append(s.Params, umbel.Param{Name: name, Value: umbel.Uint(numbers[i])})
	}
	for _, p := range f.open {
		s.Parts = append(s.Parts, p.State())
	}
	return s
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, fmt.Errorf("incremental: a state of kind %.40q: %w", s.Kind, umbel.ErrKind)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	shape, err := openShape(s)
	if err != nil {
		return nil, err
	}
	if len(s.Arrays) != 0 || len(s.Parts) < 1 || len(s.Parts) > len(shape.Planes) {
		return nil, fmt.Errorf("incremental: %d planes and %d parts, want no planes and 1 to %d parts: %w",
			len(s.Arrays), len(s.Parts), len(shape.Planes), umbel.ErrCorrupt)
	}
	f := &Filter{shape: shape}
	for i, part := range s.Parts {
		p, err := bloom.Open(part)
		if err != nil && !errors.Is(err, umbel.ErrCorrupt) {
			err = fmt.Errorf("%v: %w", err, umbel.ErrCorrupt) // of another kind than parts are
		}
		if err != nil {
			return nil, fmt.Errorf("incremental: part %d: %w", i, err)
		}
		if p.Shape() != shape.bloom(i) {
			return nil, fmt.Errorf("incremental: part %d is %+v, want %+v: %w", i, p.Shape(), shape.bloom(i), umbel.ErrCorrupt)
		}
		f.open = append(f.open, p)
	}
	f.newest()
	return f, nil
}

// openShape reads the parameters of a state.
func openShape(s umbel.State) (Shape, error) {
	planes := (len(s.Params) - 1) / 3
	if planes < 1 || planes > MaxLayers {
		return Shape{}, fmt.Errorf("incremental: %d parameters, want those of 1 to %d planes: %w", len(s.Params), MaxLayers, umbel.ErrCorrupt)
	}
	names := paramNames(planes)
	numbers := make([]uint64, len(names))
	dst := make([]*uint64, len(names))
	for i := range dst {
		dst[i] = &numbers[i]
	}
	if err := s.Params.Uints(names, dst...); err != nil {
		return Shape{}, err
	}
	if numbers[0] != uint64(planes) {
		return Shape{}, fmt.Errorf("incremental: %d planes, and the numbers of %d: %w", numbers[0], planes, umbel.ErrCorrupt)
	}
	shape := Shape{Planes: make([]Layer, planes), Hasher: s.Hasher}
	for i := range shape.Planes {
		n := numbers[1+3*i:]
		shape.Planes[i] = Layer{M: n[0], K: int(min(n[1], bloom.MaxK+1)), Limit: n[2]}
	}
	return shape, design.Wrap(shape.check(), umbel.ErrCorrupt)
}
