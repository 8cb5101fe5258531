package imported

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/umbel-filters/umbel/internal/sentinel"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// hasher returns the hasher of the library's own filters, without a seed. That of Blobloom is not fixed.
func (x Form) hasher() umbel.Hasher {
	switch x {
	case Guava64, Guava32:
		return umbel.Hasher{Alg: umbel.Murmur3}
	case Spark1, Spark2:
		return umbel.Hasher{Alg: umbel.SparkMurmur3}
	}
	return umbel.Hasher{}
}

// Strategies of Guava, the first byte of its files.
const (
	strategy32 = 0
	strategy64 = 1
)

// ParseGuava returns the filter that BloomFilter.writeTo of Guava wrote, within all of b, which it copies. Its keys are
// bytes, strings in UTF-8 and integers of 64 bits, as those of the funnels byteArrayFunnel, stringFunnel(UTF_8) and
// longFunnel. It returns an error wrapping umbel.ErrCorrupt unless b is the whole file of a filter. It allocates no more than b is
// long.
//
// The file, big-endian: the strategy 1 | k 1 | number of words 4 | words of 64 bits, bit i in word i/64.
func ParseGuava(b []byte) (*Filter, error) {
	const header = 6
	if len(b) < header || b[0] > strategy64 {
		return nil, corrupt("guava: the file begins with %x, want a strategy, 00 or 01, and 5 more bytes", b[:min(len(b), header)])
	}
	s := Shape{Form: Guava32, K: int(b[1]), M: uint64(binary.BigEndian.Uint32(b[2:])) * 64}
	if b[0] == strategy64 {
		s.Form = Guava64
	}
	s.Hasher = s.Form.hasher()
	return fromWords(s, b[header:], binary.BigEndian)
}

// ParseSpark returns the filter that BloomFilter.writeTo of Spark wrote, version 1 or 2, within all of b, which it
// copies. Its keys are bytes, strings and integers of 64 bits. It returns an error wrapping umbel.ErrCorrupt unless b is
// the whole file of a filter. It allocates no more than b is long.
//
// The file, big-endian: the version 4 | k 4 | in version 2 a seed 4 | number of words 4 | words of 64 bits, bit i in word
// i/64.
func ParseSpark(b []byte) (*Filter, error) {
	be := binary.BigEndian
	if len(b) < 12 || be.Uint32(b) != 1 && be.Uint32(b) != 2 || be.Uint32(b) == 2 && len(b) < 16 {
		return nil, corrupt("spark: the file of %d bytes begins with %x, want version 1 or 2 and a header of 12 or 16 bytes", len(b), b[:min(len(b), 4)])
	}
	s := Shape{Form: Spark1, K: int(min(be.Uint32(b[4:]), maxK+1)), Hasher: Spark1.hasher()}
	rest := b[8:]
	if be.Uint32(b) == 2 {
		var seed [16]byte
		binary.LittleEndian.PutUint32(seed[:], be.Uint32(rest))
		s.Form, s.Hasher.Seed, rest = Spark2, umbel.SeedFrom(seed), rest[4:]
	}
	s.M = uint64(be.Uint32(rest)) * 64
	return fromWords(s, rest[4:], be)
}

const (
	blobloomMagic  = "blobloom"
	blobloomHeader = 64
	commentBytes   = 44
)

// ParseBlobloom returns the filter that Dump of greatroar/blobloom wrote, and its comment, from all of b, which it copies.
// Its program hashed the keys itself, with the hasher h: umbel.XXH64 is xxhash, and umbel.Caller any other hash, whose
// digests are those of [umbel.DigestFromHash64]. A wrong hasher is not detected: keys are then not found. It returns an error wrapping
// umbel.ErrCorrupt unless b is the whole file of a filter. It allocates no more than b is long.
//
// The file, little-endian: "blobloom" 8 | version 0 4 | number of blocks less one 4 | k 4 | comment 44, padded with
// zeros | blocks of 64 bytes, bit i of a block in its byte i/8.
func ParseBlobloom(b []byte, h umbel.Hasher) (f *Filter, comment string, err error) {
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

// fromWords returns the filter of shape s whose bits are b, words in the given order.
func fromWords(s Shape, b []byte, order binary.ByteOrder) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, corrupt("%w", err)
	}
	if uint64(len(b)) != s.M/8 {
		return nil, corrupt("%v: %d bytes of bits follow the header, want %d", s.Form, len(b), s.M/8)
	}
	bits, err := cells.New(s.M, 1)
	if err != nil {
		return nil, corrupt("%w", err)
	}
	for i := range bits.Words {
		bits.Words[i] = order.Uint64(b[8*i:])
	}
	return newFilter(s, bits), nil
}

// AppendFile appends the file that the filter's library reads: that of [ParseGuava], [ParseSpark] or [ParseBlobloom]. The
// comment is that of Blobloom, up to 44 bytes that are not zero; other files have none. On error it returns dst
// unchanged: the error wraps umbel.ErrMismatch if the filter's hasher is not that of the library, which would then miss keys,
// and umbel.ErrGoal for the zero Filter and for a comment that cannot be written.
func (f *Filter) AppendFile(dst []byte, comment string) ([]byte, error) {
	h := f.form.hasher()
	if f.form == Spark2 {
		h.Seed = f.hasher.Seed
	}
	switch {
	case f.core().Zero:
		return dst, sentinel.Errorf(umbel.ErrGoal, "imported: a zero Filter has no file: make it with New")
	case f.form != Blobloom && f.hasher != h:
		return dst, sentinel.Errorf(umbel.ErrMismatch, "imported: the filter hashes with %v, and the library of the form %v with %v: it would not find keys",
			f.hasher, f.form, h)
	case f.form != Blobloom && comment != "":
		return dst, sentinel.Errorf(umbel.ErrGoal, "imported: a file of the form %v has no comment", f.form)
	case len(comment) > commentBytes || bytes.IndexByte([]byte(comment), 0) >= 0:
		return dst, sentinel.Errorf(umbel.ErrGoal, "imported: a comment of %d bytes, want at most %d, none of them zero", len(comment), commentBytes)
	}
	be, le := binary.BigEndian, binary.LittleEndian
	dst = slices.Grow(dst, blobloomHeader+len(f.bits.Words)*8)
	words, k := uint32(len(f.bits.Words)), uint32(f.k)
	var order binary.AppendByteOrder = be
	switch f.form {
	case Guava32:
		dst = be.AppendUint32(append(dst, strategy32, byte(k)), words)
	case Guava64:
		dst = be.AppendUint32(append(dst, strategy64, byte(k)), words)
	case Spark1:
		dst = be.AppendUint32(be.AppendUint32(be.AppendUint32(dst, 1), k), words)
	case Spark2:
		seed := f.hasher.Seed.Bytes()
		dst = be.AppendUint32(be.AppendUint32(dst, 2), k)
		dst = be.AppendUint32(be.AppendUint32(dst, le.Uint32(seed[:])), words)
	case Blobloom:
		order = le
		dst = append(dst, blobloomMagic...)
		dst = le.AppendUint32(le.AppendUint32(le.AppendUint32(dst, 0), uint32(f.bits.Len/blockBits-1)), k)
		dst = append(append(dst, comment...), make([]byte, commentBytes-len(comment))...)
	}
	for _, w := range f.bits.Words {
		dst = order.AppendUint64(dst, w)
	}
	return dst, nil
}

func corrupt(format string, args ...any) error {
	return sentinel.Errorf(umbel.ErrCorrupt, "imported: "+format, args...)
}
