package splitblock

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Name is the name of this kind of filter.
const Name = "splitblock"

// State returns the complete contents of the filter: see [umbel.Filter]. It has no parameters; the array
// determines the number of blocks.
func (f *Filter) State() umbel.State {
	return umbel.State{Kind: Name, Hasher: f.hasher, Arrays: []cells.Array{f.bits}, Notes: umbel.Notes{Planned: f.planned}}
}

// Open returns the filter with state s, and takes over its memory. It returns an error wrapping
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	bits, err := openCells(s)
	if err != nil {
		return nil, err
	}
	f := newFilter(bits, s.Hasher)
	f.planned = s.Planned
	return f, nil
}

// openCells returns the cells of a state.
func openCells(s umbel.State) (cells.Array, error) {
	bits, err := kind.OpenCells(s, nil)
	if err == nil {
		err = sentinel.Wrap(umbel.ErrCorrupt, Shape{M: bits.Len, Hasher: s.Hasher}.check())
	}
	return bits, err
}

// locator is that of umbel.Kind.
func locator(s umbel.State) (umbel.Locator, error) {
	bits, err := openCells(s.WithoutWords())
	return &Filter{blocks: bits.Len / BlockBits}, err
}

var kind = arrays.Kind{Name: Name}

// blockLog is log2 of BlockBits.
const blockLog = 8

// Fold shrinks f by factor r, keeping all keys. The result is bit for bit the filter that is built at that
// size, since the block of a hash with z/r blocks is ⌊block with z / r⌋. Fold returns an error wrapping
// umbel.ErrMismatch if r doesn't divide the number of blocks; on error f is unchanged. It reads the filter
// once and allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	return f.setArray(f.array().Fold(r))
}

// Unfold enlarges f by factor u, keeping all keys: see [umbel.Folder]. It returns an error wrapping
// umbel.ErrMismatch if the result had more than maxBlocks.
func (f *Filter) Unfold(u uint64) error {
	if u > maxBlocks/max(f.blocks, 1) {
		return sentinel.Errorf(umbel.ErrMismatch, "splitblock: %d blocks don't unfold by %d, want at most 2^32 blocks", f.blocks, u)
	}
	return f.setArray(f.array().Unfold(u))
}

// Merge adds the keys of another filter of this kind with the same hasher. Different sizes are handled as by
// bloom.Filter.Merge. It returns an error wrapping umbel.ErrMismatch with the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := arrays.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	return f.setArray(f.array().Merge(g.array()))
}

// array returns the cells with blocks as groups.
func (f *Filter) array() arrays.Array {
	return arrays.Array{Kind: kind, Shape: arrays.Shape{M: f.bits.Len, Group: blockLog}, Cells: f.bits}
}

// setArray makes a the cells of f unless err is not nil, and returns err.
func (f *Filter) setArray(a arrays.Array, err error) error {
	if err == nil {
		g := newFilter(a.Cells, f.hasher)
		g.planned = f.planned
		kinds.Move(f, g)
	}
	return err
}

// Stats measures the filter: see [umbel.Filter]. Its rate is that of the bits that are actually set: the mean
// over the blocks of the product of the fill ratios of their words. The fill ratio of the whole filter to the
// power 8 would be too low, by a third at 10 bits per key, since blocks differ in load. The Stats of the zero
// Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.blocks == 0 {
		return umbel.Stats{}
	}
	var ones uint64
	var rate float64
	for i := 0; i < len(f.bits.Words); i += blockWords {
		p := 1.0
		for _, w := range f.bits.Words[i : i+blockWords] {
			low, high := bits.OnesCount32(uint32(w)), bits.OnesCount32(uint32(w>>32))
			ones += uint64(low + high)
			p *= float64(low*high) / (32 * 32)
		}
		rate += p
	}
	n := f.array().Keys(estimateKeys)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(ones) / float64(f.bits.Len), FPRate: rate / float64(f.blocks),
		Cells: f.bits.Len, K: K, Bytes: f.bits.Bytes(),
	}
}

const (
	// BlockBytes is the length of a block in Parquet's bitset.
	BlockBytes = BlockBits / 8
	// MaxBitset is the length in bytes of the longest bitset: the header in a Parquet
	// file counts its bytes in 31 bits.
	MaxBitset = 1<<31 - BlockBytes
)

// A bitset follows a Bloom filter's header in a Parquet file. It consists of the blocks, each of them eight
// words of 32 bits, little-endian. Cell i of the filter is bit i%8 of byte i/8.

// AppendBitset appends Parquet's bitset to dst, M/8 bytes. In a file a header with BLOCK, XXHASH,
// UNCOMPRESSED and this length comes before it.
//
// Programs that use Apache Arrow's C++ library accept only lengths that are powers of two, up to 128 MiB.
// Folds by powers of two preserve that.
//
// It returns dst unchanged and an error wrapping umbel.ErrMismatch if the filter doesn't use
// [ParquetHasher], or umbel.ErrLimit if the bitset is longer than MaxBitset.
func (f *Filter) AppendBitset(dst []byte) ([]byte, error) {
	if f.hasher != ParquetHasher {
		return dst, sentinel.Errorf(umbel.ErrMismatch,
			"splitblock: the filter hashes with %v, Parquet with %v: readers would get false negatives", f.hasher, ParquetHasher)
	}
	if f.bits.Bytes() > MaxBitset {
		return dst, sentinel.Errorf(umbel.ErrLimit, "splitblock: a bitset of %d bytes, want at most %d; fold the filter", f.bits.Bytes(), MaxBitset)
	}
	dst = slices.Grow(dst, int(f.bits.Bytes()))
	for _, w := range f.bits.Words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst, nil
}

// OpenBitset returns the filter of a Parquet bitset, with [ParquetHasher]. It copies b. It returns an error
// wrapping umbel.ErrCorrupt unless b is one or more whole blocks, and umbel.ErrLimit if b is longer than
// MaxBitset.
func OpenBitset(b []byte) (*Filter, error) {
	if len(b) == 0 || len(b)%BlockBytes != 0 {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "splitblock: a bitset of %d bytes, want one or more whole blocks of %d", len(b), BlockBytes)
	}
	if len(b) > MaxBitset {
		return nil, sentinel.Errorf(umbel.ErrLimit, "splitblock: a bitset of %d bytes, want at most %d", len(b), MaxBitset)
	}
	f, err := NewShape(Shape{M: uint64(len(b)) * 8, Hasher: ParquetHasher})
	if err != nil {
		return nil, err
	}
	for i := range f.bits.Words {
		f.bits.Words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return f, nil
}
