package share

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// streamBuffer is the size of the pieces in which a decoder receives an object. They stay in the cache of
// a processor, and few requests to the system are needed.
const streamBuffer = 256 << 10

// stream reads an object from its source while it arrives, without verifying it. It continues after
// interruptions. The caller closes it.
type stream struct {
	ctx    context.Context
	source Source
	ref    Ref
	keep   bool   // in data
	data   []byte // what has arrived
	n      uint64 // number of these bytes
	ahead  []byte // read by start, and not returned by Read
	body   io.ReadCloser
	failed int    // interruptions without progress
	since  uint64 // n at the last one
	// failure is why the object is not requested any more.
	failure error
}

// start waits until a part of the object has arrived. After that, memory for the whole is allocated; so a
// size that is not true takes little.
func (s *stream) start() error {
	var first bytes.Buffer
	n := min(s.ref.Bytes, max(firstBytes, s.ref.Bytes/growth))
	_, err := first.ReadFrom(io.LimitReader(s, int64(n)))
	s.ahead = first.Bytes()
	return err
}

// Read returns bytes of the object, and io.EOF after them. The other error is failure.
func (s *stream) Read(b []byte) (int, error) {
	if len(s.ahead) > 0 {
		n := copy(b, s.ahead)
		s.ahead = s.ahead[n:]
		return n, nil
	}
	for s.n < s.ref.Bytes {
		n, err := s.next(b[:min(uint64(len(b)), s.ref.Bytes-s.n)])
		if s.add(b[:n]); n > 0 {
			return n, nil
		}
		if err != nil && !s.again(err) {
			return 0, s.failure
		}
	}
	return 0, io.EOF
}

// next reads from the body.
func (s *stream) next(b []byte) (n int, err error) {
	if s.body == nil {
		if s.body, err = s.source.Object(s.ctx, s.ref.Hash.String(), int64(s.n)); err != nil {
			s.body = nil
			return 0, err
		}
	}
	if n, err = s.body.Read(b); err == io.EOF {
		err = errShort(s.n+uint64(n), s.ref.Bytes)
	}
	return n, err
}

func (s *stream) add(b []byte) {
	s.n += uint64(len(b))
	if !s.keep {
		return
	}
	for len(b) > 0 {
		if len(s.data) == cap(s.data) {
			s.data = grow(s.data, s.ref)
		}
		k := min(len(b), cap(s.data)-len(s.data))
		s.data, b = append(s.data, b[:k]...), b[k:]
	}
}

// again closes the body, and reports whether the object is requested again after an error.
func (s *stream) again(err error) bool {
	s.Close()
	if s.failed++; s.n-s.since >= minProgress {
		s.failed = 0
	}
	s.since = s.n
	if s.ctx.Err() != nil || errors.Is(err, ErrNotFound) || s.failed == fetchTries {
		s.failure = err
	}
	return s.failure == nil
}

// Close ends the request.
func (s *stream) Close() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
}
