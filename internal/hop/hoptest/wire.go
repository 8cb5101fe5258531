package hoptest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// received is a message as it arrived.
type received struct {
	first    string // line
	fields   []field
	body     []byte
	trailers []field
	interim  []received
}

// errBroken is the error of a message that ended early or is malformed.
var errBroken = errors.New("the message is broken")

// readFields reads lines until an empty one, as they are.
func readFields(r *bufio.Reader) (fields []field, err error) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" {
			return fields, nil
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsAny(name, " \t") || name == "" {
			return nil, fmt.Errorf("%w: line %q", errBroken, line)
		}
		fields = append(fields, field{name, strings.Trim(value, " \t")})
	}
}

// readHead reads the first line and the fields of a message.
func readHead(r *bufio.Reader) (m received, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return m, err
	}
	m.first = strings.TrimSuffix(line, "\r\n")
	m.fields, err = readFields(r)
	return m, err
}

// readBody reads the body and the trailers of a message, whose end may be that of the connection.
func (m *received) readBody(r *bufio.Reader, untilClosed bool) (err error) {
	h := values(m.fields)
	switch n, is := h["Content-Length"]; {
	case strings.EqualFold(h.Get("Transfer-Encoding"), "chunked"):
		return m.readChunks(r)
	case is:
		size, err := strconv.Atoi(n[0])
		if err != nil || len(n) > 1 {
			return fmt.Errorf("%w: lengths %q", errBroken, n)
		}
		m.body = make([]byte, size)
		_, err = io.ReadFull(r, m.body)
		return err
	case untilClosed:
		m.body, err = io.ReadAll(r)
	}
	return err
}

// readChunks reads a chunked body.
func (m *received) readChunks(r *bufio.Reader) error {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseUint(size, 16, 32)
		if err != nil {
			return fmt.Errorf("%w: chunk size %q", errBroken, line)
		}
		if n == 0 {
			m.trailers, err = readFields(r)
			return err
		}
		part := make([]byte, n+2)
		if _, err := io.ReadFull(r, part); err != nil {
			return err
		}
		m.body = append(m.body, part[:n]...)
	}
}
