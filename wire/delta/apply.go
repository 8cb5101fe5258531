package delta

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
	"github.com/umbel-filters/umbel/wire/internal/roots"
)

// Apply returns the result of applying a delta to its base, in memory of its own. It checks
// the ID of the result. It returns an error wrapping
//
//   - umbel.ErrMismatch if base isn't the delta's base, including the case that the delta was
//     already applied;
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
	// nothing, and for a Base that is certain. It is also for a program that keeps the
	// [hashtree.Tree] of the base, which computes the ID in the time of comparing both states:
	// it must compare the ID with [Info.Result] before it uses the result.
	Unverified bool
	// Limits are those of the result. An array with another length than that of the base
	// also takes memory for the blocks of a worker.
	Limits wire.Limits
}

// Apply is [Apply].
func (d Decoder) Apply(base umbel.State, delta []byte) (umbel.State, error) {
	h, err := inspect(delta)
	if err != nil {
		return umbel.State{}, err
	}
	if err := base.Check(); err != nil {
		return umbel.State{}, err
	}
	if d.Base == (wire.ID{}) {
		d.Base = roots.Identify(base, d.Limits.Workers)
	}
	if err := h.checkBase(d.Base); err != nil {
		if h.Kind != base.Kind {
			err = sentinel.Errorf(umbel.ErrMismatch,
				"the delta goes from %s to %s, of kind %s, and the filter is %s, of kind %s: apply it to the filter from which this was made",
				h.Base.digits(), h.Result.digits(), h.Kind, digits(d.Base), base.Kind)
		}
		return umbel.State{}, err
	}
	if h.regular {
		h.Bytes = base.Bytes()
	}
	l := d.budget(base)
	if h.Bytes > l.Bytes {
		return umbel.State{}, sentinel.Errorf(umbel.ErrLimit, "the result takes %d bytes of cells, the limit is %d: raise the limit to apply it",
			h.Bytes, l.Bytes)
	}
	r := newReader(delta, h, l)
	s, err := r.result(base, h)
	if err != nil {
		return umbel.State{}, fmt.Errorf("byte %d: %w", r.Off, err)
	}
	if d.Unverified {
		return s, nil
	}
	if id := wire.ID(roots.Identify(s, d.Limits.Workers)); !h.Result.Begins(id) {
		return umbel.State{}, sentinel.Errorf(umbel.ErrCorrupt, "the result is %s, want %s: get the whole filter", digits(id), h.Result.digits())
	}
	return s, nil
}

// budget returns the limits of the result.
func (d Decoder) budget(base umbel.State) format.Budget {
	l := d.Limits
	if l.Bytes == 0 {
		l.Bytes = max(wire.DefaultBytes, base.Bytes())
	}
	return format.Budget{Bytes: l.Bytes, Reserve: l.Reserve, Workers: l.Workers}
}

// checkBase returns an error unless the delta has this base.
func (i Info) checkBase(base wire.ID) error {
	switch {
	case i.Base.Begins(base):
		return nil
	case i.Result.Begins(base):
		return sentinel.Errorf(umbel.ErrMismatch, "the delta from %s to %s is already applied", i.Base.digits(), i.Result.digits())
	}
	return sentinel.Errorf(umbel.ErrMismatch,
		"the delta goes from %s to %s, the filter is %s: get the whole filter, or the delta from %s; or this delta is older than the filter",
		i.Base.digits(), i.Result.digits(), digits(base), digits(base))
}

// digits returns the first 8 hexadecimal digits of an ID.
func digits(id wire.ID) string { return Prefix(id[:]).digits() }
