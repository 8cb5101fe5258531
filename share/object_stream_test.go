package share

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// choppy is a source of one object. Each request ends after a number of bytes with an error.
type choppy struct {
	Source
	data     []byte
	bytes    int
	requests int
}

func (c *choppy) Object(_ context.Context, _ string, offset int64) (io.ReadCloser, error) {
	c.requests++
	rest := c.data[min(int(offset), len(c.data)):]
	if len(rest) <= c.bytes {
		return io.NopCloser(bytes.NewReader(rest)), nil
	}
	return io.NopCloser(io.MultiReader(bytes.NewReader(rest[:c.bytes]), iotest.ErrReader(errBroken))), nil
}

// A stream has the bytes of the object, however often it is interrupted, and ends if nothing arrives.
func TestStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	data := make([]byte, 3*firstBytes+5)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	for _, c := range []struct {
		name            string
		n               int // bytes of the object
		bytes, requests int // of each request, and their number
		want            error
	}{
		{"empty", 0, 10, 0, nil},
		{"at once", len(data), len(data), 1, nil},
		{"in pieces", len(data), minProgress, (len(data) + minProgress - 1) / minProgress, nil},
		{"nothing arrives", 100, 0, fetchTries, errBroken},
		{"too little arrives", len(data), minProgress - 1, fetchTries, errBroken},
	} {
		for _, keep := range []bool{false, true} {
			source := &choppy{data: data[:c.n], bytes: c.bytes}
			s := stream{ctx: t.Context(), source: source, ref: Ref{Bytes: uint64(c.n)}, keep: keep}
			var got []byte
			err := s.start()
			if err == nil {
				got, err = io.ReadAll(&s)
			}
			s.Close()
			if !errors.Is(err, c.want) || source.requests != c.requests || c.want == nil && !bytes.Equal(got, data[:c.n]) {
				t.Errorf("%s: %d bytes after %d requests, want %d after %d: %v", c.name, len(got), source.requests, c.n, c.requests, err)
			}
			if kept := len(s.data); keep && kept != int(s.n) || !keep && kept > 0 {
				t.Errorf("%s: %d of %d bytes are kept", c.name, kept, s.n)
			}
		}
	}
}

// An object that is shorter than its reference states takes no more memory than its first part.
func TestStreamShort(t *testing.T) {
	s := stream{ctx: t.Context(), source: &choppy{data: make([]byte, 10), bytes: 10}, ref: Ref{Bytes: 100}, keep: true}
	if err := s.start(); !errors.Is(err, ErrCorrupt) || len(s.data) != 10 {
		t.Errorf("%d bytes, %v", len(s.data), err)
	}
}
