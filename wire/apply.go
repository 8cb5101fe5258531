package wire

import (
	"fmt"

	"github.com/umbel-filters/umbel"
)

// Apply returns the state that a delta makes of old, in memory of its own: old is only
// read. It gives that state and no other, by its ID, or an error.
//
// The error wraps umbel.ErrMismatch if old isn't the delta's base, and says what to ask
// for, or that the delta has been applied; umbel.ErrLimit if the result takes more than
// l allows, which is found out before there is memory for it; umbel.ErrCorrupt if no
// umbel wrote the delta, with errors.ErrUnsupported for versions and codings that later
// versions of this package may know.
func Apply(old umbel.State, delta []byte, l Limits) (umbel.State, error) {
	return Patcher{Limits: l}.Apply(old, delta)
}

// Patcher applies deltas, as [Apply] does. Its zero value is ready to use. A Patcher may
// be used by many goroutines at once.
type Patcher struct {
	// Base is the ID of the old state where it is known; the zero ID isn't. Where
	// one delta follows another it is the Result of the one before.
	Base ID
	// Unverified leaves out the ID of the result, which takes longer to find than a
	// small delta to apply. It is for deltas from who is trusted, over ways that
	// change nothing, to a Base that is known for sure.
	Unverified bool
	// Limits are those of Parse; Bytes is about the result. A plane that comes of one
	// of another length takes memory for a worker's blocks besides.
	Limits Limits
}

// Apply is [Apply].
func (o Patcher) Apply(old umbel.State, delta []byte) (umbel.State, error) {
	info, err := InspectDelta(delta)
	if err != nil {
		return umbel.State{}, err
	}
	if err := check(old); err != nil {
		return umbel.State{}, err
	}
	if o.Base == (ID{}) {
		o.Base = Identify(old)
	}
	if err := info.from(o.Base); err != nil {
		return umbel.State{}, err
	}
	l := o.Limits.orDefault(max(DefaultBytes, old.Bytes()))
	if info.Bytes > l.Bytes {
		return umbel.State{}, fmt.Errorf("wire: the result of the delta takes %d bytes of cells, the limit is %d: raise the limit to apply it: %w",
			info.Bytes, l.Bytes, umbel.ErrLimit)
	}
	p := newPatch(delta, l)
	s, err := p.result(old, info)
	if err != nil {
		return umbel.State{}, fmt.Errorf("wire: delta, byte %d: %w", p.off, err)
	}
	if o.Unverified {
		return s, nil
	}
	if id := Identify(s); id != info.Result {
		return umbel.State{}, fmt.Errorf("wire: the delta leads to %s, it promises %s: ask for a snapshot: %w", short(id), short(info.Result), umbel.ErrCorrupt)
	}
	return s, nil
}

// from returns an error unless the delta is one from the state of an ID.
func (i DeltaInfo) from(base ID) error {
	switch base {
	case i.Base:
		return nil
	case i.Result:
		return fmt.Errorf("wire: the delta from %s to %s is already applied, the filter is %s: %w",
			short(i.Base), short(i.Result), short(base), umbel.ErrMismatch)
	}
	return fmt.Errorf("wire: the delta is one from %s to %s, the filter is %s: ask for a snapshot, or for the delta from %s: %w",
		short(i.Base), short(i.Result), short(base), short(base), umbel.ErrMismatch)
}

// short returns the first 8 hexadecimal digits of an ID.
func short(id ID) string { return id.String()[:8] }
