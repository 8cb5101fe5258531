package filtertest

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// sealable is a Bloom filter with a Seal that changes nothing.
type sealable struct {
	*bloom.Filter
	sealed bool
	last   umbel.Digest // added
}

func (f *sealable) Add(d umbel.Digest) bool {
	f.last = d
	return f.Filter.Add(d)
}

func (f *sealable) AddAll(changed []bool, ds []umbel.Digest) {
	f.last = ds[len(ds)-1]
	f.Filter.AddAll(changed, ds)
}

func (f *sealable) Seal() error {
	f.sealed = f.Stats().Fill > 0
	return nil
}

// sealsWith is the kind of such filters with a wrong method.
func sealsWith[F umbel.Filter](wrong func(*sealable) F) func() umbel.Kind {
	return func() umbel.Kind {
		return kind(func(f *bloom.Filter) umbel.Filter { return wrong(&sealable{Filter: f}) })
	}
}

type losingSeal struct{ *sealable }

func (f losingSeal) Seal() error {
	f.Clear()
	return nil
}

type markingSeal struct{ *sealable }

func (f markingSeal) Seal() error {
	f.Add(umbel.Digest{H1: 77, H2: 1 << 60})
	return nil
}

type orderedSeal struct{ *sealable }

func (f orderedSeal) Seal() error {
	if f.last != (umbel.Digest{}) && !f.sealed {
		f.Filter.Add(umbel.Digest{H1: f.last.H1 + 1, H2: f.last.H2 + 1})
	}
	return f.sealable.Seal()
}

type closingSeal struct{ *sealable }

func (f closingSeal) Add(d umbel.Digest) bool { return !f.sealed && f.sealable.Add(d) }

// swellingSeal unfolds by 2, which the forecast doesn't contain.
type swellingSeal struct{ *sealable }

func (f swellingSeal) Seal() error {
	if f.sealed || f.Stats().Fill == 0 {
		return nil
	}
	f.sealed = true
	return f.Unfold(2)
}
