package keys

import (
	"bytes"
	"fmt"
	"io"
)

// MaxKey is the largest length of a key, in bytes.
const MaxKey = 1 << 30

// chunkBytes is the size of a read.
const chunkBytes = 1 << 20

// Reader splits a stream into chunks of complete keys.
type Reader struct {
	r      io.Reader
	format Format
	rest   []byte // the beginning of an incomplete key
	maxKey int
	began  bool // the beginning was checked
	ended  bool
}

// NewReader returns a reader of the keys in r.
func NewReader(r io.Reader, f Format) *Reader {
	return &Reader{r: r, format: f, maxKey: MaxKey}
}

// Next returns some complete keys with their separators; the last key of the stream may have
// none. It returns as soon as a key is complete, so the keys of a slow pipe aren't delayed. The
// chunk is in buf if it fits. It returns io.EOF at the end, an error for a key longer than
// [MaxKey], and a *[BinaryError] if the first keys are no text.
func (r *Reader) Next(buf []byte) ([]byte, error) {
	if cap(buf) < chunkBytes {
		buf = make([]byte, 0, chunkBytes)
	}
	buf = append(buf[:0], r.rest...)
	r.rest = r.rest[:0]
	for !r.ended {
		if len(buf) > r.maxKey {
			return nil, fmt.Errorf("a %v is longer than %d bytes; check the file and the separator (-0 for NUL)", r.format, r.maxKey)
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, err := r.r.Read(buf[len(buf):cap(buf)])
		old := len(buf)
		buf = buf[:old+n]
		if err == io.EOF {
			r.ended = true
		} else if err != nil {
			return nil, err
		}
		if i := bytes.LastIndexByte(buf[old:], r.format.Separator); i >= 0 {
			end := old + i + 1
			r.rest = append(r.rest, buf[end:]...)
			return r.first(buf[:end], buf)
		}
	}
	if len(buf) == 0 {
		return nil, io.EOF
	}
	return r.first(buf, buf)
}

// byteOrderMark is what some editors write at the beginning of a text in UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// first returns a chunk. Of the first one it removes a byte order mark, which is part of no line, and it returns
// an error if head, the bytes read until the first key was complete, is no text.
func (r *Reader) first(chunk, head []byte) ([]byte, error) {
	if r.began {
		return chunk, nil
	}
	r.began = true
	if r.format.Separator == '\n' && !r.format.Binary {
		chunk = bytes.TrimPrefix(chunk, byteOrderMark)
	}
	return chunk, checkText(r.r, head, r.format)
}
