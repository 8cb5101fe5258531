package imported

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"unsafe"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/murmur3"
)

// BitsAndBlooms is a filter of bits-and-blooms/bloom, version 3. It takes keys and no digests: position i follows from
// words of two MurmurHash3 of 128 bits, of the key and of the key with a byte 1 at its end. So it is no umbel.Filter, and
// cannot be published; new keys go to a filter of a kind next to it. The zero value contains nothing, and adding to it
// panics. Queries are safe to call concurrently with each other.
type BitsAndBlooms struct {
	k    uint64
	bits cells.Array
}

// AddBytes adds key and reports whether a bit changed.
func (f *BitsAndBlooms) AddBytes(key []byte) bool {
	if f.bits.Len == 0 {
		panic("umbel: add to a zero filter: make it with ParseBitsAndBlooms")
	}
	changed, h := false, hashes(key)
	for i := range f.k {
		changed = f.bits.SetBit(h.at(i)%f.bits.Len) || changed
	}
	return changed
}

// HasBytes reports whether key may have been added. It is never false for a key that was added.
func (f *BitsAndBlooms) HasBytes(key []byte) bool {
	if f.bits.Len == 0 {
		return false
	}
	h := hashes(key)
	for i := range f.k {
		if !f.bits.Bit(h.at(i) % f.bits.Len) {
			return false
		}
	}
	return true
}

// AddString is AddBytes of the bytes of key.
func (f *BitsAndBlooms) AddString(key string) bool { return f.AddBytes(bytesOf(key)) }

// HasString is HasBytes of the bytes of key.
func (f *BitsAndBlooms) HasString(key string) bool { return f.HasBytes(bytesOf(key)) }

func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Format writes the size of the filter for every verb, and not its bits.
func (f *BitsAndBlooms) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "imported.BitsAndBlooms{m:%d k:%d}", f.bits.Len, f.k)
}

// words are the four words of a key's hashes.
type words [4]uint64

func hashes(key []byte) (h words) {
	h[0], h[1] = murmur3.Sum128(key)
	var room [64]byte
	h[2], h[3] = murmur3.Sum128(append(append(room[:0], key...), 1))
	return h
}

// at returns value i. Even values begin with the first word and odd ones with the second; their steps are the third word
// twice, then the fourth twice, and so on, beginning in the middle.
func (h words) at(i uint64) uint64 { return h[i%2] + i*h[2+((i+i%2)%4)/2] }

// ParseBitsAndBlooms returns the filter that WriteTo, MarshalBinary or MarshalJSON of bits-and-blooms/bloom wrote, within
// all of b, which it copies. It returns an error wrapping umbel.ErrCorrupt unless b is a whole filter. It allocates no more than
// b is long.
//
// The file, big-endian: m 8 | k 8 | m 8 | words of 64 bits, bit i in word i/64. JSON has "m", "k", and "b", the rest of the file in
// base64.
func ParseBitsAndBlooms(b []byte) (*BitsAndBlooms, error) {
	if len(b) > 0 && b[0] == '{' {
		var text struct {
			M, K uint64
			B    string
		}
		if err := json.Unmarshal(b, &text); err != nil {
			return nil, corrupt("bits-and-blooms: %w", err)
		}
		rest, err := base64.URLEncoding.DecodeString(text.B)
		if err != nil {
			if rest, err = base64.StdEncoding.DecodeString(text.B); err != nil {
				return nil, corrupt("bits-and-blooms: %w", err)
			}
		}
		return bitsAndBlooms(text.M, text.K, rest)
	}
	if len(b) < 24 {
		return nil, corrupt("bits-and-blooms: %d bytes, want a header of 24", len(b))
	}
	be := binary.BigEndian
	return bitsAndBlooms(be.Uint64(b), be.Uint64(b[8:]), b[16:])
}

// bitsAndBlooms returns the filter with m bits, k per key, that b contains after its length.
func bitsAndBlooms(m, k uint64, b []byte) (*BitsAndBlooms, error) {
	be := binary.BigEndian
	switch {
	case m == 0 || k == 0 || k > 1<<16:
		return nil, corrupt("bits-and-blooms: m is %d and k %d, want at least 1 each, and k at most 2^16", m, k)
	case len(b) < 8 || be.Uint64(b) != m:
		return nil, corrupt("bits-and-blooms: a set of other than %d bits", m)
	case uint64(len(b))-8 != (m/64+min(m%64, 1))*8:
		return nil, corrupt("bits-and-blooms: %d bytes of bits, want those of %d bits in words", len(b)-8, m)
	}
	bits, err := cells.New(m, 1)
	if err != nil {
		return nil, corrupt("%w", err)
	}
	for i := range bits.Words {
		bits.Words[i] = be.Uint64(b[8+8*i:])
	}
	if err := bits.Check(); err != nil {
		return nil, corrupt("bits-and-blooms: %w", err)
	}
	return &BitsAndBlooms{k, bits}, nil
}

// AppendBinary appends the file that ReadFrom and UnmarshalBinary of bits-and-blooms/bloom read. Its error is nil.
func (f *BitsAndBlooms) AppendBinary(dst []byte) ([]byte, error) {
	be := binary.BigEndian
	dst = slices.Grow(dst, 24+len(f.bits.Words)*8)
	for _, n := range []uint64{f.bits.Len, f.k, f.bits.Len} {
		dst = be.AppendUint64(dst, n)
	}
	for _, w := range f.bits.Words {
		dst = be.AppendUint64(dst, w)
	}
	return dst, nil
}
