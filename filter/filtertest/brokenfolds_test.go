package filtertest

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

type intersecting struct{ *bloom.Filter }

func (f *intersecting) Merge(s umbel.State) error { return f.State().Arrays[0].Min(s.Arrays[0]) }

type swallowing struct{ *bloom.Filter }

func (f *swallowing) Merge(s umbel.State) error {
	err := f.Filter.Merge(s)
	s.Arrays[0].Clear()
	return err
}

type mergingMore struct{ *bloom.Filter }

func (f *mergingMore) Merge(s umbel.State) error {
	err := f.Filter.Merge(s)
	f.State().Arrays[0].SetBit(0)
	f.State().Arrays[0].SetBit(1)
	return err
}

type anyHasher struct{ *bloom.Filter }

func (f *anyHasher) Merge(s umbel.State) error {
	s.Hasher = f.Hasher()
	return f.Filter.Merge(s)
}

type clearingMerge struct{ *bloom.Filter }

func (f *clearingMerge) Merge(s umbel.State) error {
	err := f.Filter.Merge(s)
	if err != nil {
		f.Filter.Clear()
	}
	return err
}

type anyK struct{ *bloom.Filter }

func (f *anyK) Merge(s umbel.State) error {
	if len(s.Params) == 2 && s.Params[0].Name == "k" && s.Params[0].Value == umbel.Uint(5) {
		return nil
	}
	return f.Filter.Merge(s)
}

type foldingHalves struct{ *bloom.Filter }

func (f *foldingHalves) Fold(r uint64) error {
	s := f.State().Clone()
	if err := f.Filter.Fold(r); err != nil {
		return err
	}
	old, small := s.Arrays[0], f.Filter.State()
	small.Arrays[0].Clear()
	for i := range old.Len {
		if old.Bit(i) {
			small.Arrays[0].SetBit(i % small.Arrays[0].Len)
		}
	}
	return nil
}

type foldingLess struct{ *bloom.Filter }

func (f *foldingLess) Fold(r uint64) error {
	err := f.Filter.Fold(r)
	if err == nil && r > 1 {
		words := f.State().Arrays[0].Words
		words[len(words)/2] = 0
	}
	return err
}

type unfoldingLess struct{ *bloom.Filter }

func (f *unfoldingLess) Unfold(u uint64) error {
	err := f.Filter.Unfold(u)
	if err == nil {
		words := f.State().Arrays[0].Words
		clear(words[uint64(len(words))/u:])
	}
	return err
}

type unfoldingMore struct{ *bloom.Filter }

func (f *unfoldingMore) Unfold(u uint64) error {
	old := f.State().Clone()
	err := f.Filter.Unfold(u)
	if err == nil && u > 1 {
		a := f.State().Arrays[0]
		for i := old.Arrays[0].Len; i < a.Len; i++ {
			a.SetBit(i)
		}
	}
	return err
}

type foldingLax struct{ *bloom.Filter }

func (f *foldingLax) Fold(r uint64) error {
	_ = f.Filter.Fold(r)
	return nil
}

type foldingMute struct{ *bloom.Filter }

func (f *foldingMute) Fold(r uint64) error {
	if f.Filter.Fold(r) != nil {
		return fmt.Errorf("it doesn't divide: %w", umbel.ErrMismatch)
	}
	return nil
}

// rehashing returns a state with another seed when a quarter of its cells are set.
type rehashing struct{ *bloom.Filter }

func (f *rehashing) State() umbel.State {
	s := f.Filter.State()
	if f.Stats().Fill > 0.25 {
		s.Hasher.Seed = fixture.Seed(1, 0)
	}
	return s
}

type clearingFold struct{ *bloom.Filter }

func (f *clearingFold) Fold(r uint64) error {
	err := f.Filter.Fold(r)
	if err != nil {
		f.Filter.Clear()
	}
	return err
}
