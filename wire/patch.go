package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// patch reads a delta.
type patch struct {
	*decoder
	line line[correction]
}

// newPatch returns a patch that has read the head.
func newPatch(delta []byte, l Limits) *patch {
	head := deltaHead + 1 + int(delta[deltaHead])
	end := len(delta) - crcBytes
	d := newDecoder(bytes.NewReader(delta[head:end]), uint64(end), budget{Limits: l})
	d.off = uint64(head)
	return &patch{decoder: d, line: line[correction]{workers: l.Workers, work: (*correction).decode}}
}

// result reads the change of the base to the result.
func (p *patch) result(base umbel.State, info DeltaInfo) (umbel.State, error) {
	if base.Kind != info.Kind {
		return umbel.State{}, fmt.Errorf("a delta of kind %s for a filter of kind %s: %w", info.Kind, base.Kind, umbel.ErrCorrupt)
	}
	s, err := p.change(base, 1)
	if err != nil {
		return s, err
	}
	if left := p.there(); left != 0 {
		return s, fmt.Errorf("%d bytes follow the change: %w", left, umbel.ErrCorrupt)
	}
	if n := s.Bytes(); n != info.Bytes {
		return s, fmt.Errorf("the result has %d bytes of cells, the head says %d: %w", n, info.Bytes, umbel.ErrCorrupt)
	}
	return s, nil
}

// change reads a change of a state of the base, for a state that is depth states deep.
func (p *patch) change(base umbel.State, depth int) (umbel.State, error) {
	if p.left.States == 0 {
		return umbel.State{}, fmt.Errorf("more states than the limit allows: raise the limit to apply it: %w", umbel.ErrLimit)
	}
	p.left.States--
	s := umbel.State{Kind: base.Kind, Hasher: base.Hasher}
	var err error
	if s.Params, err = p.params(base.Params); err != nil {
		return s, err
	}
	if err := s.Check(); err != nil {
		return s, err
	}
	n, err := p.byte()
	if err != nil {
		return s, err
	}
	for i := range n {
		a, err := p.plane(base.Arrays)
		if err != nil {
			return s, fmt.Errorf("plane %d: %w", i, err)
		}
		s.Arrays = append(s.Arrays, a)
	}
	return s, p.parts(base, &s, depth)
}

func (p *patch) params(base umbel.Params) (umbel.Params, error) {
	n, err := p.byte()
	if err != nil {
		return nil, err
	}
	if n == allParams {
		return p.decoder.params()
	}
	params := slices.Clone(base)
	for range n {
		b, err := p.next(1 + 8)
		if err != nil {
			return nil, err
		}
		i, bits := int(b[0]), binary.LittleEndian.Uint64(b[1:])
		if i >= len(params) {
			return nil, fmt.Errorf("parameter %d of %d: %w", i, len(params), umbel.ErrCorrupt)
		}
		if params[i].Value.IsFloat() {
			params[i].Value = umbel.Float(math.Float64frombits(bits))
		} else {
			params[i].Value = umbel.Uint(bits)
		}
	}
	return params, nil
}

func (p *patch) parts(base umbel.State, s *umbel.State, depth int) error {
	n, err := p.uvarint()
	if err != nil {
		return err
	}
	if n > math.MaxUint16 {
		return fmt.Errorf("%d parts, want at most 65535: %w", n, umbel.ErrCorrupt)
	}
	for i := range n {
		part, err := p.part(base.Parts, depth+1)
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		s.Parts = append(s.Parts, part)
	}
	return nil
}

func (p *patch) part(base []umbel.State, depth int) (umbel.State, error) {
	origin, err := p.uvarint()
	switch {
	case err != nil:
		return umbel.State{}, err
	case origin == 0:
		return p.state(depth)
	case origin > uint64(len(base)):
		return umbel.State{}, fmt.Errorf("comes of part %d of the base, which has %d: %w", origin-1, len(base), umbel.ErrCorrupt)
	}
	// Parts of the base are no deeper than states may be, and so is what comes of them.
	return p.change(base[origin-1], depth)
}

// plane reads a plane of a state that comes of one with the planes of base.
func (p *patch) plane(base []cells.Array) (cells.Array, error) {
	s, err := p.source()
	if err != nil || s.form == formNew {
		if err == nil {
			return p.decoder.plane(nil)
		}
		return cells.Array{}, err
	}
	if int(s.index) >= len(base) {
		return cells.Array{}, fmt.Errorf("comes of plane %d of the base, which has %d: %w", s.index, len(base), umbel.ErrCorrupt)
	}
	b := base[s.index]
	shape, err := s.shape(b)
	if err != nil {
		return shape, err
	}
	if err := p.claim(s, shape); err != nil {
		return shape, err
	}
	a, err := s.predict(b)
	if err != nil {
		return a, fmt.Errorf("%w: %w", err, umbel.ErrLimit)
	}
	if s.form == formRefine {
		return a, p.refine(s, a, b)
	}
	return a, p.correct(s, a)
}

func (p *patch) source() (s source, err error) {
	if s.form, err = p.byte(); err != nil || s.form == formNew {
		return s, err
	}
	if s.form > formRefine {
		return s, fmt.Errorf("form %d, this program knows 0 to %d: a later version wrote the delta: %w: %w",
			s.form, formRefine, errors.ErrUnsupported, umbel.ErrCorrupt)
	}
	if s.index, err = p.byte(); err != nil || !s.resizes() {
		return s, err
	}
	if s.factor, err = p.uvarint(); err != nil {
		return s, err
	}
	s.group, err = p.uvarint()
	return s, err
}

// claim takes the memory of a plane from what the limit leaves, and refuses one that
// has more blocks than there can be.
func (p *patch) claim(s source, shape cells.Array) error {
	if _, err := cells.WordsFor(shape.Len, shape.Width); err != nil {
		return fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	if s.together() == 1 {
		_, err := p.take(shape)
		return err
	}
	bytes := wordsOf(shape) * 8
	if _, err := p.left.claim(bytes); err != nil {
		return err
	}
	return p.left.reserve(bytes)
}
