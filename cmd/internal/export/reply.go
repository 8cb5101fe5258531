package export

import (
	"errors"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// Bytes returns a container of the filter for a reply. It returns the error of fits, which it calls with
// the size of the container, before it copies a filter if the size is known.
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
	gone := f.View(func(f umbel.Filter) { err = fits(wire.Size(f.State())) })
	if err := errors.Join(gone, err); err != nil {
		return nil, err
	}
	gone = f.Inspect(func(f umbel.Filter) { b, err = wire.Append(nil, f.State()) })
	return b, errors.Join(gone, err)
}
