package format

import (
	"sync"

	"github.com/umbel-filters/umbel"
)

// readers keeps readers of containers in memory, so that a small container takes no memory but that of its state.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// Mode is how a container in memory is read.
type Mode struct {
	// Borrow and Unchecked are those of Reader.
	Borrow, Unchecked bool
}

// Parse reads the container b into s, and returns the number of bytes read; on error, where it was found.
func Parse(s *umbel.State, b []byte, l Budget, m Mode) (off uint64, err error) {
	r := readers.Get().(*Reader)
	r.reset(b, 0, l)
	r.Borrow, r.Unchecked = m.Borrow, m.Unchecked
	err = r.Container(s)
	off = r.Off
	r.release()
	return off, err
}

// release returns r to readers, without what must not be kept.
func (r *Reader) release() {
	*r = Reader{names: r.names, run: run{modeler: r.run.modeler, payload: r.run.payload[:0]}}
	readers.Put(r)
}
