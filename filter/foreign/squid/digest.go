package squid

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// A cache digest is a control block and a mask. Integers are big-endian.
//
//	offset  bytes  field
//	     0      2  version: 5
//	     2      2  version that a reader needs: 3
//	     4      4  capacity: keys that the digest is made for, at least 1
//	     8      4  count: additions
//	    12      4  deletions
//	    16      4  bytes of the mask: ⌈capacity · bits per entry / 8⌉
//	    20      1  bits per entry, 1 to 127
//	    21      1  cells per key: 4
//	    22    106  reserved: 0
//	   128         mask: cell i is bit i mod 8 of byte ⌊i/8⌋
const (
	// BlockBytes is the length of the control block.
	BlockBytes = 128
	// MaxMask is the length of the longest mask in bytes.
	MaxMask = maxM / 8
	// maxBits is the largest number of bits per entry. Squid ends with a failed assertion if a
	// digest from a peer has 128 or more: 5.7, 6.13 and 7.7 do.
	maxBits = 127
	// DefaultBits is Squid's default of digest_bits_per_entry.
	DefaultBits = 5
	// MaxFill is the largest fill ratio of a mask that Squid accepts from a peer.
	MaxFill = 0.65

	// Head is how the digests begin that AppendBinary writes, and those of Squid: version 5, readable from
	// version 3 on.
	Head = "\x00\x05\x00\x03"

	version       = 5
	versionNeeded = 3
)

// ErrOverfull means that more than [MaxFill] of the cells of a digest are set: Squid refuses it.
var ErrOverfull = errors.New("too many cells are set")

// Digest is a cache digest. A Digest with other numbers than [Parse] accepts can't be written.
type Digest struct {
	Capacity     uint32 // keys that it is made for, at least 1
	Count        uint32 // additions; a key that was added twice counts twice
	Deletions    uint32 // deletions, which Squid doesn't make
	BitsPerEntry uint8  // 1 to maxBits
	Mask         []byte // ⌈Capacity·BitsPerEntry/8⌉ bytes, at most MaxMask
}

// Limits bound what Parse accepts.
type Limits struct {
	MaskBytes uint64 // length of the mask; zero means MaxMask
}

// Parse returns the cache digest b, whose mask shares the memory of b. It allocates nothing. Reserved bytes and
// the numbers of the version, which must contain version 5, are not kept. The error wraps umbel.ErrCorrupt,
// or umbel.ErrLimit if the mask is longer than the limit. If only the fill ratio is too high, the error wraps
// ErrOverfull as well, and Parse returns the digest.
func Parse(b []byte, l Limits) (Digest, error) {
	d, err := parse(b, l)
	if err != nil {
		if errors.Is(err, umbel.ErrLimit) {
			return Digest{}, err
		}
		return Digest{}, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	if err := d.checkFill(); err != nil {
		return d, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	return d, nil
}

func parse(b []byte, l Limits) (Digest, error) {
	if len(b) < BlockBytes {
		return Digest{}, fmt.Errorf("squid: a cache digest of %d bytes, want a control block of %d and a mask: the transfer "+
			"ended early, or this is no cache digest", len(b), BlockBytes)
	}
	if err := checkVersion(binary.BigEndian.Uint16(b[0:]), binary.BigEndian.Uint16(b[2:])); err != nil {
		return Digest{}, err
	}
	d := Digest{
		Capacity:     binary.BigEndian.Uint32(b[4:]),
		Count:        binary.BigEndian.Uint32(b[8:]),
		Deletions:    binary.BigEndian.Uint32(b[12:]),
		BitsPerEntry: b[20],
		Mask:         b[BlockBytes:],
	}
	if k := b[21]; k != K {
		return Digest{}, fmt.Errorf("squid: %d cells per key, want %d", k, K)
	}
	size := uint64(binary.BigEndian.Uint32(b[16:]))
	if limit := l.maskBytes(); size > limit {
		return Digest{}, sentinel.Errorf(umbel.ErrLimit, "squid: a mask of %d bytes, at most %d are accepted", size, limit)
	}
	if n := uint64(len(d.Mask)); n != size {
		return Digest{}, fmt.Errorf("squid: %d bytes after the control block, want a mask of %d: fetch the digest again", n, size)
	}
	return d, d.checkSize()
}

func (l Limits) maskBytes() uint64 {
	if l.MaskBytes == 0 {
		return MaxMask
	}
	return min(l.MaskBytes, MaxMask)
}

func checkVersion(current, needed uint16) error {
	if current < versionNeeded || needed > version || needed > current {
		return fmt.Errorf("squid: cache digest version %d, readable from version %d on, want one that readers of version %d read", current, needed, version)
	}
	return nil
}

// checkSize returns an error unless the numbers of d are in range and fit together.
func (d Digest) checkSize() error {
	switch want, err := maskSize(d.Capacity, d.BitsPerEntry); {
	case err != nil:
		return err
	case want != uint64(len(d.Mask)):
		return fmt.Errorf("squid: a mask of %d bytes, want %d with %d bits for each of %d keys", len(d.Mask), want, d.BitsPerEntry, d.Capacity)
	}
	return nil
}

// maskSize returns the length of the mask of a digest: ⌈capacity·bitsPerEntry/8⌉. It returns an error wrapping
// umbel.ErrGoal if no digest can have these numbers.
func maskSize(capacity uint32, bitsPerEntry uint8) (uint64, error) {
	if capacity == 0 {
		return 0, sentinel.Errorf(umbel.ErrGoal, "squid: a capacity of 0 keys, want at least 1")
	}
	if bitsPerEntry == 0 || bitsPerEntry > maxBits {
		return 0, sentinel.Errorf(umbel.ErrGoal, "squid: %d bits per entry, want 1 to %d; a Squid that gets more may end", bitsPerEntry, maxBits)
	}
	n := (uint64(capacity)*uint64(bitsPerEntry) + 7) / 8
	if n > MaxMask {
		return 0, sentinel.Errorf(umbel.ErrGoal, "squid: %d bits for each of %d keys are a mask of %d bytes, want at most %d", bitsPerEntry, capacity, n, MaxMask)
	}
	return n, nil
}

// Fill returns the fraction of the cells that are set, and 0 for an empty mask.
func (d Digest) Fill() float64 {
	if len(d.Mask) == 0 {
		return 0
	}
	return float64(d.ones()) / float64(8*len(d.Mask))
}

// ones returns the number of cells that are set.
func (d Digest) ones() int {
	n, b := 0, d.Mask
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.NativeEndian.Uint64(b))
	}
	for _, x := range b {
		n += bits.OnesCount8(x)
	}
	return n
}

func (d Digest) checkFill() error {
	if ones, all := d.ones(), 8*len(d.Mask); uint64(ones)*100 > uint64(all)*65 {
		return fmt.Errorf("squid: %d of %d cells are set, at most 65 %% may be: make the digest with more bits per entry: %w", ones, all, ErrOverfull)
	}
	return nil
}

// Check returns an error wrapping umbel.ErrGoal unless every Squid accepts d. If only the fill ratio is too
// high, it wraps ErrOverfull as well.
func (d Digest) Check() error {
	err := d.checkSize()
	if err == nil {
		err = d.checkFill()
	}
	if err != nil {
		return sentinel.Wrap(umbel.ErrGoal, err)
	}
	return nil
}

// AppendBinary appends the digest as Squid sends it to dst. If a Squid would refuse it, AppendBinary returns
// dst unchanged and the error of Check.
func (d Digest) AppendBinary(dst []byte) ([]byte, error) {
	if err := d.Check(); err != nil {
		return dst, err
	}
	var b [BlockBytes]byte
	binary.BigEndian.PutUint16(b[0:], version)
	binary.BigEndian.PutUint16(b[2:], versionNeeded)
	binary.BigEndian.PutUint32(b[4:], d.Capacity)
	binary.BigEndian.PutUint32(b[8:], d.Count)
	binary.BigEndian.PutUint32(b[12:], d.Deletions)
	binary.BigEndian.PutUint32(b[16:], uint32(len(d.Mask)))
	b[20], b[21] = d.BitsPerEntry, K
	return append(append(dst, b[:]...), d.Mask...), nil
}
