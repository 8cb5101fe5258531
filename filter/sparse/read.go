package sparse

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/eliasfano"
	"github.com/umbel-filters/umbel/wire"
)

// Read reads r to its end and returns the filter that answers as the one in the
// container that it holds, of kind bloom and k = 1. It never has the cells in memory: of
// each block as it comes it keeps the distances between those that are set, a byte or
// two for each, and in the end makes the list of them.
//
// l.Bytes limits the cells that are read, and the distances, though less memory is taken
// than the cells would need. Errors are those of wire.Read; one of another kind wraps
// umbel.ErrKind, one of another k umbel.ErrMismatch.
func Read(r io.Reader, l wire.Limits) (*Filter, error) {
	if l.Bytes == 0 {
		l.Bytes = wire.DefaultBytes
	}
	var g gaps
	s, err := wire.Scan(r, l, func(b wire.Block) error {
		if _, err := scanned(b.State); err != nil || len(b.Part) > 0 {
			return notBloom(err)
		}
		for x := range ones(b.Cells) {
			g.add(b.First + x)
		}
		if uint64(len(g.bytes)) > l.Bytes {
			return fmt.Errorf("sparse: %d positions take more than the limit of %d bytes: raise it, or read the filter as it is: %w", g.count, l.Bytes, umbel.ErrLimit)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	shape, err := scanned(s)
	if err != nil || len(s.Parts) > 0 {
		return nil, notBloom(err)
	}
	list, err := eliasfano.Build(shape.M, g.count, g.all)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w: %w", err, umbel.ErrLimit)
	}
	f := &Filter{shape: shape}
	f.hold(list)
	return f, nil
}

// scanned returns the shape of a filter of kind bloom, whose plane has no words.
func scanned(s umbel.State) (Shape, error) {
	if s.Kind != bloomKind {
		return Shape{}, fmt.Errorf("sparse: a state of kind %.40q, want %s: %w", s.Kind, bloomKind, umbel.ErrKind)
	}
	var k, group uint64
	if err := s.Params.Uints(bloomParams, &k, &group); err != nil {
		return Shape{}, err
	}
	if len(s.Arrays) != 1 || s.Arrays[0].Width > 1 {
		return Shape{}, notBloom(nil)
	}
	return bloomShape(s.Hasher, s.Arrays[0].Len, k, group)
}

func notBloom(err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("sparse: want one plane of bits and no parts: %w", umbel.ErrCorrupt)
}

// gaps is a list of positions as they come, in order: the distance of each from the one
// before it, as an unsigned LEB128 number.
type gaps struct {
	bytes []byte
	last  uint64
	count uint64
}

func (g *gaps) add(x uint64) {
	g.bytes = binary.AppendUvarint(g.bytes, x-g.last)
	g.last = x
	g.count++
}

func (g *gaps) all(yield func(uint64) bool) {
	x := uint64(0)
	for b := g.bytes; len(b) > 0; {
		gap, n := binary.Uvarint(b)
		x, b = x+gap, b[n:]
		if !yield(x) {
			return
		}
	}
}
