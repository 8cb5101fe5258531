package resp_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

func TestReadsWhatAppendWrites(t *testing.T) {
	first := [][]byte{[]byte("BF.LOADCHUNK"), []byte("a key\r\n"), []byte("1"), {0, '\r', '\n', 255}}
	b := resp.Append(nil, first...)
	b = resp.Append(b, []byte("PING"))
	b = append(b, "*2\r\n:1\r\n$3\r\nabc\r\n"...)
	r := resp.NewReader(bytes.NewReader(b))
	for _, want := range [][][]byte{first, {[]byte("PING")}, {[]byte("1"), []byte("abc")}} {
		if got, err := r.Read(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := r.Read(); err != io.EOF {
		t.Errorf("after the last: %v, want io.EOF", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{
		"x", "*", "*1", "*1\r\n", "*-1\r\n", "*x\r\n", "*99999\r\n", "PING\r\n", "*1\r\n+OK\r\n",
		"*1\r\n$3\r\nab", "*1\r\n$3\r\nabcde", "*1\r\n$-1\r\n", "*1\r\n$536870912\r\nab", "*1\r\n$9223372036854775807\r\n",
		"*1\r\n:x\r\n", "*1\r\n:\r\n", "*1\r\n$1\nab\r\n", strings.Repeat("*", 100),
	} {
		if got, err := resp.NewReader(strings.NewReader(text)).Read(); !errors.Is(err, resp.ErrSyntax) {
			t.Errorf("%q: %q, %v, want an error", text, got, err)
		}
	}
}
