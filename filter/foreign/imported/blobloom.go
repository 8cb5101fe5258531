package imported

import (
	"bytes"
	"encoding/binary"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

const (
	blobloomMagic  = "blobloom"
	blobloomHeader = 64
	commentBytes   = 44
)

// ParseBlobloom returns the filter that Dump of greatroar/blobloom wrote, and its comment, from all of b, which it copies.
// Its program hashed the keys to 64 bits itself. h is umbel.XXH64 if it did so by xxhash, and umbel.Caller for any other hash,
// also that of 64 bits of XXH3; digests are then those of [umbel.DigestFromHash64]. With the wrong one of these, keys are not
// found. ParseBlobloom returns an error wrapping umbel.ErrGoal for another hasher, and umbel.ErrCorrupt unless b is the whole file
// of a filter. It allocates no more than b is long.
//
// The file, little-endian: "blobloom" 8 | version 0 4 | number of blocks less one 4 | k 4 | comment 44, padded with
// zeros | blocks of 64 bytes, bit i of a block in its byte i/8.
func ParseBlobloom(b []byte, h umbel.Hasher) (f *Filter, comment string, err error) {
	if h.Alg != umbel.XXH64 && h.Alg != umbel.Caller {
		return nil, "", sentinel.Errorf(umbel.ErrGoal,
			"imported: blobloom's program hashed the keys itself: give umbel.XXH64 or umbel.Caller as the hasher, not %v", h.Alg)
	}
	le := binary.LittleEndian
	if len(b) < blobloomHeader || string(b[:8]) != blobloomMagic || le.Uint32(b[8:]) != 0 {
		return nil, "", corrupt("blobloom: the file of %d bytes begins with %q, want %q, version 0 and a header of 64 bytes",
			len(b), b[:min(len(b), 8)], blobloomMagic)
	}
	text, padding, _ := bytes.Cut(b[20:blobloomHeader], []byte{0})
	if len(bytes.Trim(padding, "\x00")) > 0 {
		return nil, "", corrupt("blobloom: the comment contains a zero byte")
	}
	s := Shape{Form: Blobloom, K: int(min(le.Uint32(b[16:]), maxK+1)), M: (uint64(le.Uint32(b[12:])) + 1) * blockBits, Hasher: h}
	f, err = fromWords(s, b[blobloomHeader:], le)
	return f, string(text), err
}
