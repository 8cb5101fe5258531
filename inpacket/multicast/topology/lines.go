package topology

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// lines reads an input line by line within limits.
type lines struct {
	scanner *bufio.Scanner
	input   *capped
	limits  Limits
	number  int // of the present line, from 1
	text    string
}

func newLines(r io.Reader, l Limits) *lines {
	input := &capped{reader: r, left: l.Bytes, limit: l.Bytes}
	s := bufio.NewScanner(input)
	s.Buffer(make([]byte, 0, min(4096, l.Line)), l.Line)
	return &lines{scanner: s, input: input, limits: l}
}

// next goes to the next line that has something on it and isn't a comment.
func (s *lines) next() bool {
	for s.scanner.Scan() {
		s.number++
		s.text = strings.TrimRight(s.scanner.Text(), "\r")
		if trimmed := strings.TrimSpace(s.text); trimmed != "" && trimmed[0] != '#' {
			return true
		}
	}
	return false
}

// err returns what ended the lines, nil for the end of the input.
func (s *lines) err() error {
	err := s.scanner.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return limitError(s.number+1, "bytes in it", s.limits.Line)
	}
	return err
}

// capped reads up to a number of bytes, and fails on the next one: an input cut off
// where the limit happens to fall would look like a smaller one.
type capped struct {
	reader      io.Reader
	left, limit int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left == 0 {
		var one [1]byte
		if n, err := c.reader.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("%w: more than %d bytes; raise the limit if the input is trusted", ErrLimit, c.limit)
	}
	n, err := c.reader.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
