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
	// MaxElements is the maximum number of elements of an array, map or set that ReadValue accepts.
	MaxElements = 1 << 24
	// MaxDepth is the maximum nesting depth that ReadValue accepts.
	MaxDepth = 32

	maxText = 64 << 10
)

// Value is a reply of a server. Its type is given by the mark that it begins with.
type Value struct {
	Mark  byte    // + simple, - error, : number, $ string, = text, _ null, # true or false, , double, ( large number, * array, % map, ~ set, > push
	Text  []byte  // of a scalar; digits of numbers; "t" or "f"; of a verbatim string, what follows "txt:"
	Items []Value // of an array or set; of a map, keys and values alternately
}

// Null reports whether v is null. The nulls of RESP2 ($-1, *-1) are read as _.
func (v Value) Null() bool { return v.Mark == '_' }

// Err returns the error if v is an error reply, otherwise nil.
func (v Value) Err() error {
	if v.Mark != '-' {
		return nil
	}
	return Error(v.Text)
}

// Int returns a number, or 0 or 1 for a Boolean. ok is false for other types.
func (v Value) Int() (n int64, ok bool) {
	switch v.Mark {
	case ':':
		n, err := strconv.ParseInt(string(v.Text), 10, 64)
		return n, err == nil
	case '#':
		if string(v.Text) == "t" {
			n = 1
		}
		return n, true
	}
	return 0, false
}

// Error is an error reply of a server, including its prefix.
type Error string

func (e Error) Error() string { return string(e) }

// ReadValue returns the next reply, or io.EOF after the last one. It allocates memory for
// received bytes only. Errors wrap ErrSyntax and contain the byte offset.
func (r *Reader) ReadValue() (Value, error) {
	if _, err := r.r.Peek(1); err == io.EOF {
		return Value{}, io.EOF
	}
	return r.value(0)
}

func (r *Reader) value(depth int) (Value, error) {
	line, err := r.text()
	if err != nil {
		return Value{}, err
	}
	if len(line) == 0 {
		return Value{}, r.syntax("an empty line, want a reply")
	}
	v := Value{Mark: line[0], Text: line[1:]}
	switch v.Mark {
	case '+', '-', '_', ',', '(':
		return v, nil
	case ':':
		if _, err := strconv.ParseInt(string(v.Text), 10, 64); err != nil {
			return Value{}, r.syntax("number %.40q", v.Text)
		}
		return v, nil
	case '#':
		if t := string(v.Text); t != "t" && t != "f" {
			return Value{}, r.syntax("Boolean %.40q, want t or f", v.Text)
		}
		return v, nil
	case '$', '=':
		return r.bulk(v)
	case '*', '~', '>', '%':
		return r.aggregate(v, depth)
	}
	return Value{}, r.syntax("%q, want the mark of a reply", string(v.Mark))
}

func (r *Reader) bulk(v Value) (Value, error) {
	if string(v.Text) == "-1" {
		return Value{Mark: '_'}, nil
	}
	n, err := r.count(v.Text, MaxString)
	if err != nil {
		return Value{}, err
	}
	var b bytes.Buffer
	got, err := io.CopyN(&b, r.r, n+2)
	r.at += got
	if err == io.EOF {
		return Value{}, r.syntax("the end, in a string of %d bytes", n)
	}
	if err != nil {
		return Value{}, err
	}
	if end := b.Bytes()[n:]; string(end) != "\r\n" {
		return Value{}, r.syntax("%q after a string of %d bytes, want %q", end, n, "\r\n")
	}
	v.Text = b.Bytes()[:n]
	if v.Mark == '=' {
		if n < 4 || v.Text[3] != ':' {
			return Value{}, r.syntax("text %.40q, want three letters and a colon first", v.Text)
		}
		v.Text = v.Text[4:]
	}
	return v, nil
}

func (r *Reader) aggregate(v Value, depth int) (Value, error) {
	if string(v.Text) == "-1" {
		return Value{Mark: '_'}, nil
	}
	if depth == MaxDepth {
		return Value{}, r.syntax("more than %d arrays in each other", MaxDepth)
	}
	n, err := r.count(v.Text, MaxElements)
	if err != nil {
		return Value{}, err
	}
	if v.Mark == '%' {
		n *= 2
	}
	v.Text = nil
	for range n {
		item, err := r.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		v.Items = append(v.Items, item)
	}
	return v, nil
}

func (r *Reader) count(digits []byte, limit int64) (int64, error) {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || n < 0 || n > limit {
		return 0, r.syntax("length %.40q, want 0 to %d", digits, limit)
	}
	return n, nil
}

// text reads a line, which may be long, and removes its end.
func (r *Reader) text() ([]byte, error) {
	var line []byte
	for {
		part, err := r.r.ReadSlice('\n')
		r.at += int64(len(part))
		line = append(line, part...)
		switch {
		case err == nil && len(line) > 1 && line[len(line)-2] == '\r':
			return line[:len(line)-2], nil
		case err == io.EOF:
			return nil, r.syntax("the end, in a line %.40q", line)
		case len(line) > maxText:
			return nil, r.syntax("a line of more than %d bytes", maxText)
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// String returns the reply as one line of text.
func (v Value) String() string {
	switch v.Mark {
	case '_':
		return "null"
	case '$', '=':
		return strconv.Quote(string(v.Text))
	case '*', '~', '>', '%':
		var b bytes.Buffer
		fmt.Fprintf(&b, "%c[", v.Mark)
		for i, item := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(item.String())
		}
		b.WriteByte(']')
		return b.String()
	}
	return string(v.Mark) + string(v.Text)
}
