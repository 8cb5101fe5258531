package share

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// checkWhenChanged returns an error wrapping umbel.ErrGoal if share cannot be Feed.WhenChanged.
func checkWhenChanged(share float64) error {
	if !(share >= 0 && share <= 1) {
		return sentinel.Errorf(umbel.ErrGoal, "publish when a share of %v of the cells has changed: want 0 to 1", share)
	}
	return nil
}

// awaits reports whether the update of feed waits for further changes.
func (r *runner) awaits() bool {
	if r.feed.WhenChanged == 0 || r.p.untilRenewal() <= 0 {
		return false
	}
	c := r.p.whole()
	if c.head == nil || changedShare(c.history.state, r.update.State) >= r.feed.WhenChanged {
		return false
	}
	r.p.current = false // the next update lists words from this one on
	return true
}

// changedShare returns the number of cells that differ between two states, as a share of those of the first that are
// not zero. It is 1 if they have another shape, or if only their parameters differ.
func changedShare(last, next umbel.State) float64 {
	if !last.SameShape(next) {
		return 1
	}
	var changed, used uint64
	to := next.AllArrays()
	for i, a := range last.AllArrays() {
		used += a.Nonzero()
		changed += differing(a, to[i])
	}
	if changed == 0 && !last.Equal(next) {
		return 1
	}
	return float64(changed) / float64(max(used, 1))
}

// differing returns the number of cells that differ between arrays of the same shape.
func differing(a, b cells.Array) (n uint64) {
	const words = 1024
	var buffer [words]uint64
	for at := 0; at < len(a.Words); at += words {
		block := a.Words[at:min(at+words, len(a.Words))]
		for i, w := range block {
			buffer[i] = w ^ b.Words[at+i]
		}
		d := cells.Array{Words: buffer[:len(block)], Width: a.Width, Len: uint64(len(block)) * 64 / uint64(max(a.Width, 1))}
		n += d.Nonzero()
	}
	return n
}
