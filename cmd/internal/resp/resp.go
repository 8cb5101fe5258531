// Package resp speaks what Redis clients and servers say to each other (RESP, versions 2 and 3).
// Server answers clients from tables of commands; Reader reads replies, and commands from files.
//
// A connection's goroutine reads, runs all commands that came whole, waits once until what the
// replies rest on is kept, and writes them all. Calls of one command and key that come in a row run
// as one. Errors have the words of Redis, which clients look for.
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
	// MaxArray is the largest number of elements that are read.
	MaxArray = 1 << 10
	// MaxString is the longest string in bytes that is read, the most that a Redis
	// server takes unless told otherwise.
	MaxString = 512 << 20
	maxLine   = 32
)

// ErrSyntax is wrapped by errors about what isn't RESP.
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

// Read returns the elements of the next array, numbers as their digits, and io.EOF
// after the last. Memory is taken as the bytes come, and not as a length announces
// them. The error wraps ErrSyntax and says at which byte it is.
func (r *Reader) Read() ([][]byte, error) {
	if _, err := r.r.Peek(1); err == io.EOF {
		return nil, io.EOF
	}
	n, err := r.length('*', MaxArray)
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
	n, err := r.length('$', MaxString)
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

// length reads a line that begins with the mark and goes on with a number up to max.
func (r *Reader) length(mark byte, max int64) (int64, error) {
	line, err := r.line()
	if err != nil {
		return 0, err
	}
	if line == "" || line[0] != mark {
		return 0, r.syntax("%q, want a line that begins with %q", line, string(mark))
	}
	n, err := strconv.ParseInt(line[1:], 10, 64)
	if err != nil || n < 0 || n > max {
		return 0, r.syntax("length %q, want 0 to %d", line[1:], max)
	}
	return n, nil
}

// line reads a short line and takes its end off.
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
