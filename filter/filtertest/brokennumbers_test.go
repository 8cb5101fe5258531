package filtertest

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// numbering is a bloom filter whose state has the number of additions that changed it.
type numbering struct {
	*bloom.Filter
	added uint64
}

func (f *numbering) Add(d umbel.Digest) bool {
	if !f.Filter.Add(d) {
		return false
	}
	f.added++
	return true
}

func (f *numbering) AddAll(changed []bool, ds []umbel.Digest) {
	if changed == nil {
		changed = make([]bool, len(ds))
	}
	changed = changed[:len(ds):len(changed)]
	for i, d := range ds {
		changed[i] = f.Add(d)
	}
}

func (f *numbering) State() umbel.State {
	s := f.Filter.State()
	s.Params = append(s.Params, umbel.Param{Name: "added", Value: umbel.Uint(f.added)})
	return s
}

// numbers is the kind of such filters with a wrong method. Open refuses a state with more
// than most additions.
func numbers[F umbel.Filter](most uint64, wrong func(*numbering) F) func() umbel.Kind {
	return func() umbel.Kind {
		v := kind(func(f *bloom.Filter) umbel.Filter { return wrong(&numbering{Filter: f}) })
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			own := s.Params[len(s.Params)-1].Value.Bits()
			if own > most {
				return nil, fmt.Errorf("%d additions, want at most %d: %w", own, most, umbel.ErrCorrupt)
			}
			s.Params = s.Params[:len(s.Params)-1]
			f, err := bloom.Open(s)
			if err != nil {
				return nil, err
			}
			return wrong(&numbering{f, own}), nil
		}
		return v
	}
}

// ending adds no key after its count has reached the largest number.
type ending struct{ *numbering }

func (f ending) Add(d umbel.Digest) bool { return f.added < math.MaxUint64 && f.numbering.Add(d) }

// wrapping is a filter whose Count returns at most the number of all additions, which wraps.
type wrapping struct{ *numbering }

func (f wrapping) Count(d umbel.Digest) (n uint64, known bool) {
	if !f.Has(d) {
		return 0, true
	}
	return min(f.added, 1), true
}
