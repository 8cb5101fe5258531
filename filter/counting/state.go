package counting

import "github.com/umbel-filters/umbel/filter/internal/plane"

// AppendBinary appends the filter's container to dst: see package wire. On error,
// which the zero Filter is, dst comes back as it was.
func (f *Filter) AppendBinary(dst []byte) ([]byte, error) { return plane.Append(dst, f.State()) }

// MarshalBinary is AppendBinary(nil).
func (f *Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// UnmarshalBinary makes f the filter in a container, within the zero wire.Limits; for
// a larger one there are wire.Parse and Open. On error f is as it was.
func (f *Filter) UnmarshalBinary(b []byte) error {
	view := f.view
	if err := plane.Unmarshal(f, b, Open); err != nil {
		return err
	}
	f.view = view
	f.syncView()
	return nil
}
