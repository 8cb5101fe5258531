// Package vector reads and writes the files of spec/vectors.
package vector

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
)

// File is one vector: see README.md in spec/vectors.
type File struct {
	Path   string // below the folder of its generator, with slashes
	Header []Field
	Body   string // lines
}

// Field is a line of the header: its name and its value.
type Field [2]string

// Bytes returns the contents of the file.
func (f File) Bytes() []byte {
	var b bytes.Buffer
	for _, h := range f.Header {
		fmt.Fprintf(&b, "%s: %s\n", h[0], h[1])
	}
	fmt.Fprintf(&b, "\n%s", f.Body)
	return b.Bytes()
}

// Values returns the values of all fields of a name, in order.
func (f File) Values(name string) []string {
	var vs []string
	for _, h := range f.Header {
		if h[0] == name {
			vs = append(vs, h[1])
		}
	}
	return vs
}

// Value returns the value of a field that appears once, or "".
func (f File) Value(name string) string {
	if vs := f.Values(name); len(vs) == 1 {
		return vs[0]
	}
	return ""
}

// Parse is the inverse of File.Bytes.
func Parse(path string, b []byte) (File, error) {
	head, body, ok := strings.Cut(string(b), "\n\n")
	if !ok {
		return File{}, fmt.Errorf("%s: no blank line after the header", path)
	}
	f := File{Path: path, Body: body}
	for line := range strings.Lines(head) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			return File{}, fmt.Errorf("%s: %q, want name: value", path, line)
		}
		f.Header = append(f.Header, Field{name, value})
	}
	return f, nil
}

// HexLines returns b in lines of 32 bytes.
func HexLines(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		n := min(len(b), 32)
		s.WriteString(hex.EncodeToString(b[:n]) + "\n")
		b = b[n:]
	}
	return s.String()
}

// Delta returns the container of the base and the delta, which the body contains.
func (f File) Delta() (base, delta []byte, err error) {
	first, second, _ := strings.Cut(f.Body, "\n\n")
	base, err = File{Body: first}.Data()
	if err != nil {
		return nil, nil, err
	}
	delta, err = File{Body: second}.Data()
	return base, delta, err
}

// Data returns the bytes that the body contains in hexadecimal digits.
func (f File) Data() ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(f.Body, "\n", ""))
}

// Rows returns the columns of each line of the body.
func (f File) Rows() [][]string {
	var rows [][]string
	for line := range strings.Lines(f.Body) {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}
