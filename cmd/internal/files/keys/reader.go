package keys

import (
	"bytes"
	"fmt"
	"io"
)

// maxKey is the largest length of a key, in bytes.
const maxKey = 1 << 30

// chunkBytes is the size of a read.
const chunkBytes = 1 << 20

// Reader splits a stream into chunks of complete keys.
type Reader struct {
	// MaxKey is the most bytes of a key and its separator that are held: at first, maxKey.
	MaxKey int

	r      io.Reader
	text   Text
	rest   []byte // the beginning of an incomplete key
	ended  bool
	failed error // after the last chunk
}

// NewReader returns a reader of the keys in r.
func NewReader(r io.Reader, f Format) *Reader {
	text := Text{Format: f, Name: nameOf(r)}
	if p, ok := r.(Piece); ok {
		text.began = p.Continues
	}
	return &Reader{MaxKey: maxKey, r: r, text: text}
}

// Next returns some complete keys with their separators; the last key of the stream may have
// none. It returns as soon as a key is complete, so the keys of a slow pipe aren't delayed. The
// chunk is in buf if it fits. It returns io.EOF at the end, an error for a key longer than
// r.MaxKey that is not yet complete, and a *[BinaryError] of [Text] after the keys before the fault.
func (r *Reader) Next(buf []byte) ([]byte, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if cap(buf) < chunkBytes {
		buf = make([]byte, 0, chunkBytes)
	}
	buf = append(buf[:0], r.rest...)
	r.rest = r.rest[:0]
	for unchecked := len(buf); !r.ended; {
		if len(buf) > r.MaxKey {
			return nil, fmt.Errorf("a %v is longer than %d bytes; check the file and the separator (-0 for NUL)", r.text.Format, r.MaxKey)
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, err := r.r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			r.ended = true
		} else if err != nil {
			return nil, err
		}
		var ok bool
		if buf, ok, err = r.text.begin(buf, r.ended); err != nil {
			r.failed = err
			return nil, err
		}
		if !ok {
			continue
		}
		end := len(buf)
		if i := r.text.fault(buf[unchecked:]); i >= 0 {
			r.failed, end = r.text.zero(), unchecked+i
		}
		last := bytes.LastIndexByte(buf[unchecked:end], r.text.Format.Separator)
		switch {
		case last >= 0 && r.failed == nil:
			r.rest = append(r.rest, buf[unchecked+last+1:]...)
			fallthrough
		case last >= 0:
			return buf[:unchecked+last+1], nil
		case r.failed != nil:
			return nil, r.failed
		}
		unchecked = len(buf)
	}
	if len(buf) == 0 {
		return nil, io.EOF
	}
	return buf, nil
}
