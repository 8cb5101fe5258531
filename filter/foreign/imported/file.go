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
