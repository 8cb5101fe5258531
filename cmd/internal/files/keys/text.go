package keys

import "bytes"

// Text decides, for every way in which keys arrive, what is a key and what is no text. It is used from the beginning of a
// stream to its end.
//
// With newlines as separators, a byte order mark of UTF-8 at the beginning of a stream belongs to no key. A stream is refused with
// a *[BinaryError] if it begins like a compressed file, a filter, a Parquet file or a text in UTF-16 or UTF-32, and at its first
// zero byte, wherever that is. With zero bytes as separators, only the beginning is checked, and everything else is part of a
// key. With Format.Binary nothing is checked or removed.
//
// The keys and the error do not depend on the sizes of the pieces in which a stream arrives.
type Text struct {
	Format Format
	Name   string // of the file, for errors

	began bool
}

// byteOrderMark is what some editors write at the beginning of a text in UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Next returns the first key of in, and the rest. in continues the stream after the rest of the last call. If its first key
// may go on in bytes that are not in it, or if there is none, ok is false; ended means that no bytes follow. [Line] returns
// the line of the key. After an error there are no more keys.
func (t *Text) Next(in []byte, ended bool) (key, rest []byte, ok bool, err error) {
	if in, ok, err = t.begin(in, ended); !ok || err != nil {
		return nil, in, false, err
	}
	end := bytes.IndexByte(in, t.Format.Separator) + 1
	if end == 0 {
		end, ok = len(in), ended && len(in) > 0
	}
	if t.fault(in[:end]) >= 0 {
		return nil, in, false, t.zero()
	}
	if !ok {
		return nil, in, false, nil
	}
	key, _ = t.Format.Cut(in[:end])
	return key, in[end:], true, nil
}

// begin returns in, which is the beginning of the stream until ok is true, without a byte order mark.
func (t *Text) begin(in []byte, ended bool) (rest []byte, ok bool, err error) {
	if t.began || t.Format.Binary {
		return in, true, nil
	}
	if !ended && !hasHead(in, t.Format) {
		return in, false, nil
	}
	t.began = true
	if e := recognize(in, t.Format); e != nil {
		e.Name = t.Name
		return in, true, e
	}
	if t.Format.Separator == '\n' {
		in = bytes.TrimPrefix(in, byteOrderMark)
	}
	return in, true, nil
}

// fault returns the index of the first byte that no text contains, and -1 if there is none.
func (t *Text) fault(in []byte) int {
	if t.Format.Binary || t.Format.Separator == 0 {
		return -1
	}
	return bytes.IndexByte(in, 0)
}

// zero returns the error for a fault.
func (t *Text) zero() error { return &BinaryError{Name: t.Name} }
