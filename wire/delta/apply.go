package delta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

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
	info, err := Inspect(delta)
	if err != nil {
		return umbel.State{}, err
	}
	if err := base.Check(); err != nil {
		return umbel.State{}, err
	}
	if d.Base == (wire.ID{}) {
		d.Base = roots.Identify(base, d.Limits.Workers)
	}
	if err := info.checkBase(d.Base); err != nil {
		if info.Kind != base.Kind {
			err = sentinel.Errorf(umbel.ErrMismatch,
				"the delta goes from %s to %s, of kind %s, and the filter is %s, of kind %s: apply it to the filter from which this was made",
				short(info.Base), short(info.Result), info.Kind, short(d.Base), base.Kind)
		}
		return umbel.State{}, err
	}
	l := d.budget(base)
	if info.Bytes > l.Bytes {
		return umbel.State{}, sentinel.Errorf(umbel.ErrLimit, "the result takes %d bytes of cells, the limit is %d: raise the limit to apply it",
			info.Bytes, l.Bytes)
	}
	r := newReader(delta, l)
	s, err := r.result(base, info)
	if err != nil {
		return umbel.State{}, fmt.Errorf("byte %d: %w", r.Off, err)
	}
	if d.Unverified {
		return s, nil
	}
	if id := wire.ID(roots.Identify(s, d.Limits.Workers)); id != info.Result {
		return umbel.State{}, sentinel.Errorf(umbel.ErrCorrupt, "the result is %s, want %s: get the whole filter", short(id), short(info.Result))
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
	switch base {
	case i.Base:
		return nil
	case i.Result:
		return sentinel.Errorf(umbel.ErrMismatch, "the delta from %s to %s is already applied", short(i.Base), short(i.Result))
	}
	return sentinel.Errorf(umbel.ErrMismatch,
		"the delta goes from %s to %s, the filter is %s: get the whole filter, or the delta from %s; or this delta is older than the filter",
		short(i.Base), short(i.Result), short(base), short(base))
}

// short returns the first 8 hexadecimal digits of an ID.
func short(id wire.ID) string { return id.String()[:8] }

// Info is the head of a delta.
type Info struct {
	Base, Result wire.ID // of the two states
	Kind         string  // of both
	Bytes        uint64  // memory of the arrays of the result
}

// The fields before the change, at fixed offsets up to the name of the kind.
const (
	baseAt    = len(format.DeltaMagic)
	resultAt  = baseAt + len(wire.ID{})
	bytesAt   = resultAt + len(wire.ID{})
	kindAt    = bytesAt + 8
	headBytes = kindAt + 1 // and the name
)

// MagicBytes is the number of bytes that [Is] needs.
const MagicBytes = len(format.DeltaMagic)

// Is reports whether b begins like a delta of any version.
func Is(b []byte) bool {
	return len(b) >= MagicBytes && string(b[:MagicBytes-1]) == format.DeltaMagic[:MagicBytes-1]
}

// Inspect returns the head of a delta, for programs that store or forward
// deltas. It checks the whole message for damage, but not whether it can be applied. Its
// error wraps umbel.ErrCorrupt, and also errors.ErrUnsupported if the version is unknown.
func Inspect(delta []byte) (Info, error) {
	var i Info
	const last = MagicBytes - 1
	switch {
	case strings.HasPrefix(string(delta[:min(len(delta), last)]), format.Magic[:last]):
		return i, sentinel.Errorf(umbel.ErrCorrupt, "want a delta, this is a container")
	case !Is(delta):
		return i, sentinel.Errorf(umbel.ErrCorrupt, "want a delta, which begins with %q, this begins with %q",
			format.DeltaMagic, delta[:min(len(delta), MagicBytes)])
	case delta[last] != format.DeltaMagic[last]:
		return i, sentinel.Errorf(umbel.ErrCorrupt, "version %d, written by a later version of umbel; this program reads version %d: %w",
			delta[last], format.DeltaMagic[last], errors.ErrUnsupported)
	case len(delta) < headBytes+format.SumBytes:
		return i, cutOff(delta)
	}
	end := len(delta) - format.SumBytes
	if got, want := binary.LittleEndian.Uint32(delta[end:]), format.Checksum(delta[:end]); got != want {
		return i, sentinel.Errorf(umbel.ErrCorrupt, "checksum %08x, want %08x: the delta is damaged", got, want)
	}
	i.Base, i.Result = wire.ID(delta[baseAt:resultAt]), wire.ID(delta[resultAt:bytesAt])
	i.Bytes = binary.LittleEndian.Uint64(delta[bytesAt:])
	kindEnd := headBytes + int(delta[kindAt])
	if kindEnd > end {
		return i, cutOff(delta)
	}
	i.Kind = string(delta[headBytes:kindEnd])
	if err := umbel.CheckName(i.Kind); err != nil {
		return i, err
	}
	return i, nil
}

func cutOff(delta []byte) error {
	return sentinel.Errorf(umbel.ErrCorrupt, "the delta ends after %d bytes, more are missing", len(delta))
}
