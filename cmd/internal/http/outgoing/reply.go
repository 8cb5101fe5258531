package outgoing

import (
	"errors"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// Bytes returns a container of the filter for a reply. It returns the error of fits, which it calls with
// the size of the container.
func Bytes(e *engine.Engine, f *engine.Filter, form Form, fits func(uint64) error) (b []byte, err error) {
	defer f.CatchFault(&err)
	if form == Packed { // from a copy, because packing is slow
		hold := e.NewReservation()
		defer hold.Release()
		s, err := f.CopyState(hold)
		if err == nil {
			b, err = wire.Packer{Workers: runtime.GOMAXPROCS(0)}.Append(nil, s)
		}
		if err == nil {
			err = fits(uint64(len(b)))
		}
		return b, err
	}
	gone := f.Inspect(func(f umbel.Filter) {
		s := f.State()
		if err = fits(wire.Size(s)); err == nil { // which reads the cells
			b, err = wire.Append(nil, s)
		}
	})
	return b, errors.Join(gone, err)
}
