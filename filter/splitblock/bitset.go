package splitblock

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
)

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
		return dst, fmt.Errorf("splitblock: the filter hashes with %v, Parquet with %v: whoever reads it would miss keys: %w", f.hasher, ParquetHasher, umbel.ErrMismatch)
	}
	if f.bits.Bytes() > MaxBitset {
		return dst, fmt.Errorf("splitblock: a bitset of %d bytes, want at most %d; fold the filter: %w", f.bits.Bytes(), MaxBitset, umbel.ErrLimit)
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
		return nil, fmt.Errorf("splitblock: a bitset of %d bytes, want one or more whole blocks of %d: %w", len(b), BlockBytes, umbel.ErrCorrupt)
	}
	if len(b) > MaxBitset {
		return nil, fmt.Errorf("splitblock: a bitset of %d bytes, want at most %d: %w", len(b), MaxBitset, umbel.ErrLimit)
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
