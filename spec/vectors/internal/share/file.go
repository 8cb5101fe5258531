package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
)

// file is one vector: see README.md in spec/vectors.
type file struct {
	name   string
	header []field
	body   string
}

type field struct{ name, value string }

// bytes returns the contents of the file.
func (f file) bytes() []byte {
	var b bytes.Buffer
	for _, h := range f.header {
		fmt.Fprintf(&b, "%s: %s\n", h.name, h.value)
	}
	fmt.Fprintf(&b, "\n%s", f.body)
	return b.Bytes()
}

// values returns the values of all fields of a name, in order.
func (f file) values(name string) []string {
	var vs []string
	for _, h := range f.header {
		if h.name == name {
			vs = append(vs, h.value)
		}
	}
	return vs
}

// value returns the value of a field that appears once, or "".
func (f file) value(name string) string {
	if vs := f.values(name); len(vs) == 1 {
		return vs[0]
	}
	return ""
}

// rows returns the columns of each line of the body.
func (f file) rows() [][]string {
	var rows [][]string
	for line := range strings.Lines(f.body) {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}

// data returns the bytes that the body contains in hexadecimal digits.
func (f file) data() ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(f.body, "\n", ""))
}

// parse is the inverse of file.bytes.
func parse(name string, b []byte) (file, error) {
	head, body, ok := strings.Cut(string(b), "\n\n")
	if !ok {
		return file{}, fmt.Errorf("%s: no blank line after the header", name)
	}
	f := file{name: name, body: body}
	for line := range strings.Lines(head) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			return file{}, fmt.Errorf("%s: %q, want name: value", f.name, line)
		}
		f.header = append(f.header, field{name, value})
	}
	return f, nil
}

// hexLines returns b in lines of 32 bytes.
func hexLines(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		n := min(len(b), 32)
		s.WriteString(hex.EncodeToString(b[:n]) + "\n")
		b = b[n:]
	}
	return s.String()
}
