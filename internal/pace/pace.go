// Package pace bounds how slowly a body may arrive.
package pace

import (
	"errors"
	"io"
	"time"
)

// ErrSlow is the error of a body that does not continue, or arrives too slowly.
var ErrSlow = errors.New("the body arrives too slowly")

// Reader reads a body. At least a number of its bytes must arrive in each window of time. Only the time in which a read waits counts: a
// consumer may be as slow as it likes. It is for one goroutine.
type Reader struct {
	r      io.Reader
	window time.Duration
	least  int
	timer  *time.Timer
	left   time.Duration // for the rest of the bytes of this window
	got    int           // bytes in this window
}

// NewReader returns a reader of r. At least least bytes must arrive in each window. If they do not, it calls stop, which has to end
// the read that waits, and that read returns ErrSlow.
func NewReader(r io.Reader, window time.Duration, least int, stop func()) *Reader {
	p := &Reader{r: r, window: window, least: least, left: window, timer: time.AfterFunc(window, stop)}
	p.timer.Stop()
	return p
}

// Read reads a part of the body.
func (p *Reader) Read(b []byte) (int, error) {
	began := time.Now()
	p.timer.Reset(p.left)
	n, err := p.r.Read(b)
	if !p.timer.Stop() && err != io.EOF {
		return n, ErrSlow
	}
	p.left -= time.Since(began)
	if p.got += n; p.got >= p.least {
		p.got, p.left = 0, p.window
	}
	return n, err
}
