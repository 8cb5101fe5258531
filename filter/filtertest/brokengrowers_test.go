package filtertest

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// limiting is a Bloom filter whose TryAdd accepts 50 keys.
type limiting struct {
	*bloom.Filter
	taken int
}

func (f *limiting) TryAdd(d umbel.Digest) (bool, error) {
	if f.taken >= 50 && !f.Has(d) {
		return false, fmt.Errorf("more than 50 keys: %w", umbel.ErrLimit)
	}
	f.taken++
	return f.Add(d), nil
}

// limits is the kind of such filters with a wrong TryAdd or NextGrowth.
func limits[F umbel.Filter](wrong func(*limiting) F) func() umbel.Kind {
	return func() umbel.Kind {
		return kind(func(f *bloom.Filter) umbel.Filter { return wrong(&limiting{Filter: f}) })
	}
}

type takingRefused struct{ *limiting }

func (f takingRefused) TryAdd(d umbel.Digest) (bool, error) {
	changed, err := f.limiting.TryAdd(d)
	if err != nil {
		f.Add(d)
	}
	return changed, err
}

type refusingMutely struct{ *limiting }

func (f refusingMutely) TryAdd(d umbel.Digest) (bool, error) {
	changed, err := f.limiting.TryAdd(d)
	if err != nil {
		err = errors.New("full")
	}
	return changed, err
}

type refusingKnown struct{ *limiting }

func (f refusingKnown) TryAdd(d umbel.Digest) (bool, error) {
	if f.taken >= 50 {
		return false, umbel.ErrLimit
	}
	return f.limiting.TryAdd(d)
}

type alwaysChanging struct{ *limiting }

func (f alwaysChanging) TryAdd(d umbel.Digest) (bool, error) {
	_, err := f.limiting.TryAdd(d)
	return err == nil, err
}

// neverFull forecasts that keys are never refused.
type neverFull struct{ *limiting }

func (f neverFull) NextGrowth() (uint64, error) { return 0, nil }

// overForecasting forecasts memory that it doesn't allocate.
type overForecasting struct{ *limiting }

func (f overForecasting) NextGrowth() (uint64, error) { return 8, nil }

// repeating reports a change for a present key, and forecasts no growth.
type repeating struct{ *limiting }

func (f repeating) NextGrowth() (uint64, error) {
	if f.taken >= 50 {
		return 0, umbel.ErrLimit
	}
	return 0, nil
}

func (f repeating) TryAdd(d umbel.Digest) (bool, error) {
	if f.Has(d) {
		return true, nil
	}
	return f.limiting.TryAdd(d)
}

// doubling grows for a present key.
type doubling struct{ *limiting }

func (f doubling) NextGrowth() (uint64, error) { return repeating(f).NextGrowth() }

func (f doubling) TryAdd(d umbel.Digest) (bool, error) {
	if f.Has(d) {
		return false, f.Unfold(2)
	}
	return f.limiting.TryAdd(d)
}

// dropping reports that it added a key, and doesn't add it.
type dropping struct{ *limiting }

func (f dropping) TryAdd(d umbel.Digest) (bool, error) { return !f.Has(d), nil }

// forgetting is a Bloom filter that expires all keys every 1024 ticks.
type forgetting struct {
	*bloom.Filter
	now uint64
}

func (f *forgetting) Advance(to uint64) error {
	if to < f.now {
		return fmt.Errorf("time %d is before %d: %w", to, f.now, umbel.ErrMismatch)
	}
	if to/1024 > f.now/1024 {
		f.Clear()
	}
	f.now = to
	return nil
}

// forgets is the kind of such filters with a wrong Advance.
func forgets[F umbel.Filter](wrong func(*forgetting) F) func() umbel.Kind {
	return func() umbel.Kind {
		return kind(func(f *bloom.Filter) umbel.Filter { return wrong(&forgetting{Filter: f}) })
	}
}

type goingBack struct{ *forgetting }

func (f goingBack) Advance(to uint64) error {
	f.now = min(f.now, to)
	return f.forgetting.Advance(to)
}

type clearingFirst struct{ *forgetting }

func (f clearingFirst) Advance(to uint64) error {
	if to < f.now {
		f.Clear()
	}
	return f.forgetting.Advance(to)
}

type clearingAlways struct{ *forgetting }

func (f clearingAlways) Advance(to uint64) error {
	err := f.forgetting.Advance(to)
	if err == nil {
		f.Clear()
	}
	return err
}

type remainingWords struct{ *forgetting }

func (f remainingWords) Advance(to uint64) error {
	if to < f.now {
		return f.forgetting.Advance(to)
	}
	if to/1024 > f.now/1024 {
		clear(f.State().Arrays[0].Words[1:])
	}
	f.now = to
	return nil
}

// steppingMarks sets bits when time advances in small steps.
type steppingMarks struct{ *forgetting }

func (f steppingMarks) Advance(to uint64) error {
	if to > f.now && to-f.now < 1000 {
		f.Add(umbel.Digest{H1: to << 32})
	}
	return f.forgetting.Advance(to)
}
