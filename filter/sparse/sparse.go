// Package sparse provides Bloom filters with one cell per key that store a list of the
// nonzero cells instead of the cells. The list is sorted and Elias-Fano coded, and is
// queried without decoding it (package internal/coding/eliasfano). With n keys and a rate of f it
// takes n·(2 + log2(1/f)) bits instead of n/f. Mitzenmacher 2002, section III-A, proposes a
// plain sorted list with interpolation search, for receivers of a compressed Bloom filter
// that lack the memory to expand it.
//
// The positions are those of kind bloom with k = 1 and the same m and group. So the two
// filters give the same results, and each can be converted to the other, bit for bit
// (spec/kinds/sparse.md).
package sparse

import (
	"encoding/binary"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/coding/eliasfano"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// Filter is a sparse filter. New positions are collected in a small table; when it has 1/32 of the length
// of the list, both are merged into a new list. Stats, State and all methods that begin with Has are safe
// to call concurrently with each other; no other methods are. A Filter must not be copied, since the copies
// would share memory: use Clone. The zero Filter contains nothing and is a target for UnmarshalBinary;
// adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	shape   Shape
	mapping probe.Mapping
	list    eliasfano.List
	added   pending // positions that are not in the list
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.shape.Hasher, Planned: &f.planned, Zero: f.shape.M == 0}
}

// position returns the cell of d.
func (f *Filter) position(d umbel.Digest) uint64 {
	v, _ := probe.Start(d).Next()
	return f.mapping.At(v)
}

// Has reports whether d may have been added. It is never false for a key that was.
func (f *Filter) Has(d umbel.Digest) bool { return f.has(f.position(d)) }

func (f *Filter) has(x uint64) bool {
	return f.list.Len() != 0 && f.list.Has(x) || f.added.count != 0 && f.added.has(x)
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier]. In a filter larger than the
// caches it is several times faster than single queries.
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

// Clear removes all keys.
func (f *Filter) Clear() {
	if f.shape.M != 0 {
		f.hold(must(eliasfano.Build(f.shape.M, 0, nothing)))
	}
}

func nothing(func(uint64) bool) {}

// hold sets the positions to l, and the number of cells to its bound.
func (f *Filter) hold(l eliasfano.List) {
	f.shape.M = l.Bound()
	f.mapping = probe.Mapping{Groups: f.shape.M >> f.shape.Group, Log: f.shape.Group}
	f.list, f.added = l, pending{}
}

// Read reads the container of a filter of kind bloom with k = 1 from r, to its end, and
// returns the equivalent sparse filter. The cells are never in memory together: of each
// block, Read keeps the distances between the nonzero cells, one or two bytes each, and
// makes the list from them.
//
// l.Bytes limits the memory that the cells would need, and that of the distances. Errors
// are those of wire.Read; the error about another kind wraps umbel.ErrKind, the one about
// another k umbel.ErrMismatch.
func Read(r io.Reader, l wire.Limits) (*Filter, error) {
	if l.Bytes == 0 {
		l.Bytes = wire.DefaultBytes
	}
	var g gaps
	var s umbel.State
	for b, err := range wire.ReadBlocks(r, l, &s) {
		if err != nil {
			return nil, err
		}
		if _, err := scanned(s); err != nil || len(s.Parts) > 0 {
			return nil, notBloom(err)
		}
		for x := range ones(b.Cells) {
			g.add(b.First + x)
		}
		if uint64(len(g.bytes)) > l.Bytes {
			return nil, sentinel.Errorf(umbel.ErrLimit,
				"sparse: %d positions take more than the limit of %d bytes: raise it, or read the filter as it is", g.count, l.Bytes)
		}
	}
	shape, err := scanned(s)
	if err != nil || len(s.Parts) > 0 {
		return nil, notBloom(err)
	}
	list, err := eliasfano.Build(shape.M, g.count, g.all)
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrLimit, "sparse: %w", err)
	}
	f := &Filter{shape: shape, planned: s.Planned}
	f.hold(list)
	return f, nil
}

// scanned returns the shape of a filter of kind bloom, whose array has no words.
func scanned(s umbel.State) (Shape, error) {
	if s.Kind != bloomKind {
		return Shape{}, sentinel.Errorf(umbel.ErrKind, "sparse: a state of kind %.40q, want %s", s.Kind, bloomKind)
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
	return sentinel.Errorf(umbel.ErrCorrupt, "sparse: want one array of bits and no parts")
}

// gaps is an ascending list of positions: the distance of each from the one before it, as
// an unsigned LEB128 number.
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
