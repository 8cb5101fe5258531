package resp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadValue(t *testing.T) {
	long := "-ERR " + strings.Repeat("x", 10_000)
	for _, c := range []struct{ text, want string }{
		{"+OK\r\n", "+OK"},
		{long + "\r\n", long},
		{":-9223372036854775808\r\n", ":-9223372036854775808"},
		{"$3\r\na\r\n\r\n", `"a\r\n"`},
		{"$-1\r\n", "null"},
		{"*-1\r\n", "null"},
		{"_\r\n", "null"},
		{"#t\r\n", "#t"},
		{",1.5\r\n", ",1.5"},
		{"(12345678901234567890\r\n", "(12345678901234567890"},
		{"=5\r\ntxt:a\r\n", `"a"`},
		{"*0\r\n", "*[]"},
		{"*2\r\n*1\r\n:1\r\n%1\r\n+a\r\n~1\r\n#f\r\n", "*[*[:1], %[+a, ~[#f]]]"},
		{">2\r\n+invalidate\r\n_\r\n", ">[+invalidate, null]"},
	} {
		r := NewReader(strings.NewReader(c.text + ":1\r\n"))
		if v, err := r.ReadValue(); err != nil || v.String() != c.want {
			t.Errorf("%.60q: got %s, %v, want %s", c.text, v, err, c.want)
		}
		v, err := r.ReadValue()
		if n, ok := v.Int(); err != nil || n != 1 || !ok {
			t.Errorf("after %.60q: %s, %v", c.text, v, err)
		}
		if _, err := r.ReadValue(); err != io.EOF {
			t.Errorf("at the end: %v, want %v", err, io.EOF)
		}
	}
	if v, err := NewReader(strings.NewReader("-ERR no\r\n")).ReadValue(); err != nil || v.Err() != Error("ERR no") {
		t.Errorf("%v, %v", v, err)
	}
}

func TestReadValueRefuses(t *testing.T) {
	for _, text := range []string{
		"\r\n", "x\r\n", "+OK", "+OK\n", ":\r\n", ":1.5\r\n", "#x\r\n", "$\r\n", "$-2\r\n", "$3\r\nab", "$3\r\nabcde", "$536870913\r\n", "*-2\r\n", "*2\r\n:1\r\n",
		"*16777217\r\n", "=3\r\nabc\r\n", "=4\r\nabcd\r\n", strings.Repeat("*1\r\n", 40) + ":1\r\n", "+" + strings.Repeat("x", 200_000), "%1\r\n+a\r\n",
	} {
		if v, err := NewReader(strings.NewReader(text)).ReadValue(); !errors.Is(err, ErrSyntax) {
			t.Errorf("%.40q: %v, %v, want an error", text, v, err)
		}
	}
}

func FuzzReadValue(f *testing.F) {
	f.Add([]byte("*2\r\n*1\r\n:1\r\n%1\r\n+a\r\n~1\r\n#f\r\n"))
	f.Add([]byte("=5\r\ntxt:a\r\n$-1\r\n$0\r\n\r\n"))
	f.Add([]byte("*16777216\r\n$536870912\r\nx"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := NewReader(bytes.NewReader(stream))
		for {
			v, err := r.ReadValue()
			if err == io.EOF {
				return
			}
			if err != nil {
				if !errors.Is(err, ErrSyntax) {
					t.Errorf("%v doesn't wrap ErrSyntax", err)
				}
				return
			}
			if v.String() == "" {
				t.Error("a reply that is nothing")
			}
		}
	})
}
