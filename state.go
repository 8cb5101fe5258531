package umbel

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel/cells"
)

// MaxDepth is how deep states may nest: a state without parts has depth 1.
const MaxDepth = 4

// State is all there is of a filter, as plain data: what containers, deltas,
// inspection and storage work on, knowing no kind.
type State struct {
	Kind   string // fixes stream, mapping, layout and the meaning of Params
	Hasher Hasher
	Params Params        // named numbers, in the order of the kind's specification
	Arrays []cells.Array // bits or counters
	Parts  []State       // of a composed filter
}

// Clone returns a copy of s that shares no memory with it.
func (s State) Clone() State {
	s.Params = slices.Clone(s.Params)
	s.Arrays = slices.Clone(s.Arrays)
	for i, p := range s.Arrays {
		s.Arrays[i] = p.Clone()
	}
	s.Parts = slices.Clone(s.Parts)
	for i, p := range s.Parts {
		s.Parts[i] = p.Clone()
	}
	return s
}

// Equal reports whether s and t have the same kind, hasher, parameters, arrays and parts,
// each in the same order.
func (s State) Equal(t State) bool {
	return s.Kind == t.Kind && s.Hasher == t.Hasher && slices.Equal(s.Params, t.Params) &&
		slices.EqualFunc(s.Arrays, t.Arrays, cells.Array.Equal) && slices.EqualFunc(s.Parts, t.Parts, State.Equal)
}

// Bytes returns the memory of the planes of s and of its parts.
func (s State) Bytes() uint64 {
	var n uint64
	for _, p := range s.Arrays {
		n += p.Bytes()
	}
	for _, p := range s.Parts {
		n += p.Bytes()
	}
	return n
}

// Check returns an error that wraps [ErrCorrupt] if s can't be the state of a
// filter of any kind: a bad name or hasher, a float that isn't finite, a plane
// that isn't well formed, nesting beyond [MaxDepth].
func (s State) Check() error { return s.check(MaxDepth) }

func (s State) check(depth int) error {
	if depth == 0 {
		return fmt.Errorf("umbel: parts nest deeper than %d: %w", MaxDepth, ErrCorrupt)
	}
	if err := CheckName(s.Kind); err != nil {
		return err
	}
	if err := s.Hasher.Check(); err != nil {
		return fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	for i, p := range s.Params {
		if err := CheckName(p.Name); err != nil {
			return err
		}
		if _, twice := s.Params[:i].Get(p.Name); twice {
			return fmt.Errorf("umbel: parameter %q appears twice: %w", p.Name, ErrCorrupt)
		}
		if f := p.Value.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("umbel: parameter %q is %v, want a finite number: %w", p.Name, f, ErrCorrupt)
		}
	}
	for i, p := range s.Arrays {
		if err := p.Check(); err != nil {
			return fmt.Errorf("umbel: plane %d: %w: %w", i, err, ErrCorrupt)
		}
	}
	for i, p := range s.Parts {
		if err := p.check(depth - 1); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

// Alike returns nil if s and t are of one kind and one hasher, and an error that
// wraps [ErrMismatch] and says the first difference otherwise, but no secret
// seed. Sizes are for the kinds to compare: some filters of unlike sizes go together.
func (s State) Alike(t State) error {
	if s.Kind != t.Kind {
		return fmt.Errorf("umbel: one filter is %s, the other %s: %w", s.Kind, clip(t.Kind), ErrMismatch)
	}
	if s.Hasher != t.Hasher {
		return fmt.Errorf("umbel: one filter hashes with %s, the other with %s: %w", s.Hasher.public(), t.Hasher.public(), ErrMismatch)
	}
	return nil
}

// CheckName returns an error that wraps [ErrCorrupt] unless name is that of a kind
// or a parameter: 1 to 64 of a-z, 0-9, '-', '.', and '/', the last two for kinds
// made elsewhere, which begin with their maker's domain.
func CheckName(name string) error {
	ok := len(name) > 0 && len(name) <= 64
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '/'
	}
	if !ok {
		return fmt.Errorf("umbel: name %q: want 1 to 64 of a-z, 0-9, '-', '.', '/': %w", clip(name), ErrCorrupt)
	}
	return nil
}
