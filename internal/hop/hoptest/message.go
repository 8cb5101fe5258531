package hoptest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Field is a field of a head or of a trailer section.
type Field struct{ Name, Value string }

// Message is a request or an answer.
type Message struct {
	Line     string // the first one
	Fields   []Field
	Body     string
	Trailers []Field
	Interim  []Message // answers with status 1xx that came before this one
	Whole    bool      // the body has ended as it should
}

// Status returns the status of an answer, 0 if there is none.
func (m Message) Status() int {
	_, rest, _ := strings.Cut(m.Line, " ")
	n, _ := strconv.Atoi(rest[:min(3, len(rest))])
	return n
}

// Get returns the first value of a field, "" if there is none.
func (m Message) Get(name string) string {
	for _, f := range m.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// errMalformed is the error of a message that no proxy must send.
var errMalformed = errors.New("malformed")

const tokens = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// readLine reads a line that ends with CR LF.
func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	text, ok := strings.CutSuffix(line, "\r\n")
	if !ok || strings.ContainsAny(text, "\r\x00") {
		return "", fmt.Errorf("%w: the line %q", errMalformed, line)
	}
	return text, nil
}

// readFields reads fields up to an empty line.
func readFields(r *bufio.Reader) (list []Field, err error) {
	for {
		line, err := readLine(r)
		if err != nil || line == "" {
			return list, err
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.Trim(name, tokens) != "" {
			return nil, fmt.Errorf("%w: the field %q", errMalformed, line)
		}
		list = append(list, Field{name, strings.Trim(value, " \t")})
	}
}

// readHead reads a head.
func readHead(r *bufio.Reader) (m Message, err error) {
	if m.Line, err = readLine(r); err == nil {
		m.Fields, err = readFields(r)
	}
	return m, err
}

// readBody reads the body and the trailers of m. Without a length it is as long as the connection if toEnd is true, and empty otherwise.
func (m *Message) readBody(r *bufio.Reader, toEnd bool) error {
	var b []byte
	var err error
	switch length := m.Get("Content-Length"); {
	case strings.EqualFold(m.Get("Transfer-Encoding"), "chunked"):
		return m.readChunks(r)
	case length != "":
		n, bad := strconv.ParseUint(length, 10, 31)
		if bad != nil {
			return fmt.Errorf("%w: length %q", errMalformed, length)
		}
		b = make([]byte, n)
		n64, e := io.ReadFull(r, b)
		b, err = b[:n64], e
	case toEnd:
		b, err = io.ReadAll(r)
	}
	m.Body, m.Whole = string(b), err == nil
	return err
}

func (m *Message) readChunks(r *bufio.Reader) error {
	for {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.Trim(size, " \t"), 16, 31)
		if err != nil {
			return fmt.Errorf("%w: the size of a chunk %q", errMalformed, line)
		}
		if n == 0 {
			m.Trailers, err = readFields(r)
			m.Whole = err == nil
			return err
		}
		b := make([]byte, n)
		got, err := io.ReadFull(r, b)
		m.Body += string(b[:got])
		if err != nil {
			return err
		}
		if line, err = readLine(r); err != nil {
			return err
		}
		if line != "" {
			return fmt.Errorf("%w: %q after a chunk", errMalformed, line)
		}
	}
}

// readAnswer reads an answer to a request with a method, and the interim ones before it.
func readAnswer(r *bufio.Reader, method string) (Message, error) {
	var interim []Message
	for {
		m, err := readHead(r)
		if err != nil {
			return m, err
		}
		switch status := m.Status(); {
		case status >= 100 && status < 200 && status != 101:
			interim = append(interim, m)
			continue
		case method == "HEAD" || status == 204 || status == 304:
			m.Whole = true
		default:
			err = m.readBody(r, true)
		}
		m.Interim = interim
		return m, err
	}
}
