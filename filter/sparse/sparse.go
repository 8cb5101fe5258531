// Package sparse provides Bloom filters of one cell a key that keep the positions of
// the cells that are set, not the cells: a sorted list in the form of Elias and Fano,
// which is asked without decoding it (package internal/eliasfano). With a rate of f and
// n keys that is n·(2 + log2(1/f)) bits in the place of n/f. Mitzenmacher 2002, section
// III-A, proposes a list for those who receive a compressed Bloom filter and lack the
// memory to expand it; there it is a plain sorted one with interpolation search.
//
// Its name is a promise: the positions are those of kind bloom with k = 1 and the same
// m and group, so it answers as that filter does, and each becomes the other bit for bit
// (spec/kinds/sparse.md).
package sparse

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/eliasfano"
	"github.com/umbel-filters/umbel/probe"
	"github.com/umbel-filters/umbel/wire"
)

// Filter is a sparse filter. What is added waits in a small table until that has a 32nd
// of what the list has; then the two become a new list. Has and HasAll may run
// alongside themselves and each other, Stats and State; changes run alone. The zero
// Filter holds nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	shape   Shape
	mapping probe.Mapping
	list    eliasfano.List
	added   pending // positions that aren't in the list
}

// position returns the cell of d.
func (f *Filter) position(d umbel.Digest) uint64 {
	v, _ := probe.Start(d).Next()
	return f.mapping.At(v)
}

// Has reports whether d may have been added. It is never false for what was.
func (f *Filter) Has(d umbel.Digest) bool { return f.has(f.position(d)) }

func (f *Filter) has(x uint64) bool {
	return f.list.Len() != 0 && f.list.Has(x) || f.added.count != 0 && f.added.has(x)
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier]. In a filter that outgrows
// the caches it takes a fraction of the time of one by one.
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	const chunk = 64
	dst = dst[:len(ds):len(dst)]
	var at [chunk]uint64
	for len(ds) > 0 {
		now := min(chunk, len(ds))
		for i, d := range ds[:now] {
			at[i] = f.position(d)
		}
		if f.list.Len() != 0 {
			f.list.HasAll(dst[:now], at[:now])
		} else {
			clear(dst[:now])
		}
		if f.added.count != 0 {
			for i, x := range at[:now] {
				dst[i] = dst[i] || f.added.has(x)
			}
		}
		ds, dst = ds[now:], dst[now:]
	}
}

// Clear forgets all keys.
func (f *Filter) Clear() {
	if f.shape.M != 0 {
		f.hold(must(eliasfano.Build(f.shape.M, 0, nothing)))
	}
}

func nothing(func(uint64) bool) {}

// hold makes l the filter's positions, and its bound the number of cells.
func (f *Filter) hold(l eliasfano.List) {
	f.shape.M = l.Bound()
	f.mapping = probe.Mapping{Groups: f.shape.M >> f.shape.Group, Log: f.shape.Group}
	f.list, f.added = l, pending{}
}

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
