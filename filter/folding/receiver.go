package folding

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// Receiver holds the last faces that it was sent, each by another fold of one base, and
// answers yes only if all of them do: the sender folds by another factor each time, and
// who has received several has more than any of them says (Sailhan and Stehr 2012,
// section IV-C, on entropy). How much more is in docs/kinds/folding.md: little, and
// less than the base compressed would have been.
//
// Faces go together only if they are of the same keys. One that was sent before a key
// was added doesn't have it, and to ask it as well would lose the key.
//
// Has may run alongside itself; Take runs alone. The zero Receiver is ready.
type Receiver struct {
	Last int // how many faces are held, at least 1; 0 stands for 2

	version uint64
	faces   []*bloom.Filter
}

// Take takes in a face, whose memory it takes over. The version is a number that the
// sender changes whenever its keys change, or its container's ID in short: faces of
// another version are dropped first, and so is a face of the same size, and the oldest
// of more than Last. The error is that of bloom.Open, or wraps umbel.ErrMismatch if the
// face is of the version and not of the hasher or k of those held; nothing has changed
// then.
func (r *Receiver) Take(version uint64, face umbel.State) error {
	f, err := bloom.Open(face)
	if err != nil {
		return err
	}
	kept := r.faces[:0:0]
	if version == r.version {
		for _, g := range r.faces {
			a, b := f.Shape(), g.Shape()
			if a.Hasher != b.Hasher || a.K != b.K {
				return fmt.Errorf("folding: a face of version %d has k = %d and %v, another %d and %v: %w",
					version, a.K, a.Hasher, b.K, b.Hasher, umbel.ErrMismatch)
			}
			if a.M != b.M {
				kept = append(kept, g)
			}
		}
	}
	kept = append(kept, f)
	last := r.Last
	if last < 1 {
		last = 2
	}
	r.version, r.faces = version, kept[max(len(kept)-last, 0):]
	return nil
}

// Has reports whether d may have been added to the base: whether all faces held have
// it. It is true while there is none.
func (r *Receiver) Has(d umbel.Digest) bool {
	for _, f := range r.faces {
		if !f.Has(d) {
			return false
		}
	}
	return true
}

// Faces returns how many faces are held.
func (r *Receiver) Faces() int { return len(r.faces) }
