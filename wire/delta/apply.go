package delta

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Apply returns the result of applying a delta to its base, in memory of its own. It checks
// the ID of the result. It returns an error wrapping
//
//   - umbel.ErrMismatch if base isn't the delta's base, also if the delta was applied
//     already;
//   - umbel.ErrLimit if the result needs more than l permits, before memory is allocated;
//   - umbel.ErrCorrupt if the delta is damaged, and also errors.ErrUnsupported if a later
//     version of this package may be able to read it.
func Apply(base umbel.State, delta []byte, l wire.Limits) (umbel.State, error) {
	return Decoder{Limits: l}.Apply(base, delta)
}

// Decoder applies deltas with known IDs. Its zero value is ready. A Decoder is safe for
// concurrent use.
type Decoder struct {
	// Base is the ID of the base; zero means that it is computed. If one delta follows
	// another, it is the Result of the one before.
	Base wire.ID
	// Unverified omits the check of the result's ID, which takes longer than applying a
	// small delta. It is for deltas of a trusted sender over a channel that changes
	// nothing, and for a Base that is certain.
	Unverified bool
	// Limits are those of the result. An array with another length than that of the base
	// also takes memory for the blocks of a worker.
	Limits wire.Limits
}

// Apply is [Apply].
func (d Decoder) Apply(base umbel.State, delta []byte) (umbel.State, error) {
	info, err := Inspect(delta)
	if err != nil {
		return umbel.State{}, err
	}
	if err := format.Check(base); err != nil {
		return umbel.State{}, fmt.Errorf("delta: %w", err)
	}
	if d.Base == (wire.ID{}) {
		d.Base = wire.Identify(base)
	}
	if err := info.checkBase(d.Base); err != nil {
		return umbel.State{}, err
	}
	l := d.budget(base)
	if info.Bytes > l.Bytes {
		return umbel.State{}, fmt.Errorf("delta: the result takes %d bytes of cells, the limit is %d: raise the limit to apply it: %w",
			info.Bytes, l.Bytes, umbel.ErrLimit)
	}
	r := newReader(delta, l)
	s, err := r.result(base, info)
	if err != nil {
		return umbel.State{}, fmt.Errorf("delta: byte %d: %w", r.Off, err)
	}
	if d.Unverified {
		return s, nil
	}
	if id := wire.Identify(s); id != info.Result {
		return umbel.State{}, fmt.Errorf("delta: the result is %s, want %s: get the whole filter: %w", short(id), short(info.Result), umbel.ErrCorrupt)
	}
	return s, nil
}

// budget returns the limits of the result.
func (d Decoder) budget(base umbel.State) format.Budget {
	l := d.Limits
	if l.Bytes == 0 {
		l.Bytes = max(wire.DefaultBytes, base.Bytes())
	}
	if l.States == 0 {
		l.States = wire.DefaultStates
	}
	return format.Budget{Bytes: l.Bytes, States: l.States, Reserve: l.Reserve, Workers: l.Workers}
}

// checkBase returns an error unless the delta has this base.
func (i Info) checkBase(base wire.ID) error {
	switch base {
	case i.Base:
		return nil
	case i.Result:
		return fmt.Errorf("delta: the delta from %s to %s is already applied: %w", short(i.Base), short(i.Result), umbel.ErrMismatch)
	}
	return fmt.Errorf("delta: the delta goes from %s to %s, the filter is %s: get the whole filter, or the delta from %s: %w",
		short(i.Base), short(i.Result), short(base), short(base), umbel.ErrMismatch)
}

// short returns the first 8 hexadecimal digits of an ID.
func short(id wire.ID) string { return id.String()[:8] }
