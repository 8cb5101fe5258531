package delta

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// AppendChange appends the change from base to result: a delta of version 1 without its head and checksum. It is for protocols
// that identify base and result and verify the bytes themselves, as package share does. Base and Result of e are not used. Errors are those of Append.
func (e Encoder) AppendChange(dst []byte, base, result umbel.State) ([]byte, error) {
	if err := checkBoth(base, result); err != nil {
		return dst, err
	}
	return e.appendChange(dst, base, result, nil)
}

// appendChange is AppendChange for states that have a delta, with the changes if they are known.
func (e Encoder) appendChange(dst []byte, base, result umbel.State, k *known) ([]byte, error) {
	out := format.Appender(dst)
	w := newWriter(&out, e.Workers, k)
	defer w.close()
	w.change(base, result)
	w.notes(base, result)
	w.Flush()
	return out, w.Err
}

// ApplyChange returns the result of applying a change of AppendChange to its base, in memory of its
// own. The caller ensures that base is the state that the change begins with: applied to another
// base, it may have any result without an error. Base and Unverified of d are not used.
//
// The error wraps umbel.ErrLimit if the result needs more than d.Limits, before memory is
// allocated, and umbel.ErrCorrupt if the change is damaged in a visible way.
func (d Decoder) ApplyChange(base umbel.State, change []byte) (umbel.State, error) {
	if err := base.Check(); err != nil {
		return umbel.State{}, err
	}
	r := newChangeReader(change, 0, d.budget(base))
	s, err := r.whole(base, false)
	if err != nil {
		return umbel.State{}, fmt.Errorf("byte %d: %w", r.Off, err)
	}
	return s, nil
}
