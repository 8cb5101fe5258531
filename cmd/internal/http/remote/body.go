package remote

import (
	"io"
	"sync"
)

// body is the body of one request, read from a source that later requests read again. The transport may read a body
// after the response, and does not close the source.
type body struct {
	mu   sync.Mutex
	from io.Reader // nil after end
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.from == nil {
		return 0, io.ErrClosedPipe
	}
	return b.from.Read(p)
}

// end makes later reads fail.
func (b *body) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.from = nil
}

// rewinder returns a function that returns r from its present position as the body of a request. It returns false
// if r, as a pipe, cannot be read twice.
func rewinder(r io.Reader) (func() (*body, error), bool) {
	s, ok := r.(io.Seeker)
	if !ok {
		return nil, false
	}
	begin, err := s.Seek(0, io.SeekCurrent)
	return func() (*body, error) {
		_, err := s.Seek(begin, io.SeekStart)
		return &body{from: r}, err
	}, err == nil
}
