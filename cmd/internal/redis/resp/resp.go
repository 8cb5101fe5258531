// Package resp implements RESP, the protocol of Redis, versions 2 and 3. Server serves tables of commands;
// Reader reads commands from files.
//
// A connection is served in rounds: one reads, runs all complete commands, waits once until the changes that the
// replies depend on are durable, and writes all replies. Event loops run the rounds of TCP and Unix sockets on
// Linux (loop.go); other connections have a goroutine each. Consecutive calls of the same command with the
// same key run as one. Errors have the texts of Redis, because clients compare them.
package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// maxArray is the maximum number of elements that Read accepts.
	maxArray = 1 << 10
	// maxString is the length of the longest string that is read, in bytes. It is the default limit
	// of a Redis server.
	maxString = 512 << 20
	maxLine   = 32
)

// ErrSyntax is wrapped by errors about input that is not valid RESP.
var ErrSyntax = errors.New("not an array of RESP")

// Append appends a command to dst.
func Append(dst []byte, words ...[]byte) []byte {
	dst = fmt.Appendf(dst, "*%d\r\n", len(words))
	for _, w := range words {
		dst = fmt.Appendf(dst, "$%d\r\n", len(w))
		dst = append(append(dst, w...), "\r\n"...)
	}
	return dst
}

// Reader reads arrays from a stream.
type Reader struct {
	r  *bufio.Reader
	at int64 // bytes read
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Read returns the elements of the next array, with numbers as digits, or io.EOF after the last
// array. It allocates memory for received bytes only, not for announced lengths. Errors wrap
// ErrSyntax and contain the byte offset.
func (r *Reader) Read() ([][]byte, error) {
	if _, err := r.r.Peek(1); err == io.EOF {
		return nil, io.EOF
	}
	n, err := r.length('*', maxArray)
	if err != nil {
		return nil, err
	}
	var words [][]byte
	for range n {
		w, err := r.element()
		if err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	return words, nil
}

// element reads a string or a number.
func (r *Reader) element() ([]byte, error) {
	if b, err := r.r.Peek(1); err == nil && b[0] == ':' {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if _, err := strconv.ParseInt(line[1:], 10, 64); err != nil {
			return nil, r.syntax("number %q", line[1:])
		}
		return []byte(line[1:]), nil
	}
	n, err := r.length('$', maxString)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	got, err := io.CopyN(&b, r.r, n+2)
	r.at += got
	if err == io.EOF {
		return nil, r.syntax("the end, in a string of %d bytes", n)
	}
	if err != nil {
		return nil, err
	}
	word, end := b.Bytes()[:n], b.Bytes()[n:]
	if string(end) != "\r\n" {
		return nil, r.syntax("%q after a string of %d bytes, want %q", end, n, "\r\n")
	}
	return word, nil
}

// length reads a line that consists of the mark and a number of at most limit.
func (r *Reader) length(mark byte, limit int64) (int64, error) {
	line, err := r.line()
	if err != nil {
		return 0, err
	}
	if line == "" || line[0] != mark {
		return 0, r.syntax("%q, want a line that begins with %q", line, string(mark))
	}
	n, err := strconv.ParseInt(line[1:], 10, 64)
	if err != nil || n < 0 || n > limit {
		return 0, r.syntax("length %q, want 0 to %d", line[1:], limit)
	}
	return n, nil
}

// line reads a short line and removes its end.
func (r *Reader) line() (string, error) {
	var b []byte
	for len(b) <= maxLine {
		c, err := r.r.ReadByte()
		if err == io.EOF {
			return "", r.syntax("the end, in a line %q", b)
		}
		if err != nil {
			return "", err
		}
		r.at++
		b = append(b, c)
		if c == '\n' && len(b) > 1 && b[len(b)-2] == '\r' {
			return string(b[:len(b)-2]), nil
		}
	}
	return "", r.syntax("a line %q without an end", b)
}

func (r *Reader) syntax(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s: %w", r.at, fmt.Sprintf(format, args...), ErrSyntax)
}
