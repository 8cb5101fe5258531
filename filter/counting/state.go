package counting

import (
	"io"

	"github.com/umbel-filters/umbel/filter/internal/front"
)

// UnmarshalBinary replaces f by the filter in container b, within the zero wire.Limits.
// The error wraps umbel.ErrCorrupt, umbel.ErrKind or umbel.ErrLimit; on error f is
// unchanged. A View of f shows the new filter.
func (f *Filter) UnmarshalBinary(b []byte) error {
	var g Filter
	err := front.Unmarshal(&g, b, Open)
	if err == nil {
		f.replace(g)
	}
	return err
}

// ReadFrom reads r to its end, replaces f by the filter in the container read, and returns
// the number of bytes read. Limits and errors are those of UnmarshalBinary; on error f is
// unchanged.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	var g Filter
	n, err := front.ReadFrom(&g, r, Open)
	if err == nil {
		f.replace(g)
	}
	return n, err
}

// replace sets *f to g and updates the view of f.
func (f *Filter) replace(g Filter) {
	g.view = f.view
	*f = g
	f.syncView()
}
