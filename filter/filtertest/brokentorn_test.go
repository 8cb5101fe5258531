package filtertest

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// crowding sets a bit more, where the first one free is.
type crowding struct{ *bloom.Filter }

func (f *crowding) Add(d umbel.Digest) bool {
	if !f.Filter.Add(d) {
		return false
	}
	for i, w := range f.State().Arrays[0].Words {
		if w != ^uint64(0) {
			f.State().Arrays[0].Words[i] = w | (w + 1)
			break
		}
	}
	return true
}

// evicting clears a bit of what was there.
type evicting struct{ *bloom.Filter }

func (f *evicting) Add(d umbel.Digest) bool {
	changed := f.Filter.Add(d)
	if a := f.State().Arrays[0]; changed && a.Bit(d.H1%a.Len) {
		a.Put(d.H1%a.Len, 0)
	}
	return changed
}

// refusingTwo takes what has two of its bits for known.
type refusingTwo struct{ *bloom.Filter }

func (f *refusingTwo) Add(d umbel.Digest) bool {
	a := f.State().Arrays[0]
	if at := f.Locate(nil, d); a.Bit(at[0]) && a.Bit(at[1]) {
		return false
	}
	return f.Filter.Add(d)
}
