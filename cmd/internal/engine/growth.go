package engine

import "github.com/umbel-filters/umbel"

// growthForecaster is an umbel.GrowthForecaster with the method that its documentation requires.
type growthForecaster interface {
	umbel.GrowthForecaster
	umbel.Grower
}

// addPredictingGrowth adds to a filter that forecasts its growth, and reserves memory before it grows. A
// present key makes no filter grow, but a kind that counts additions has to count this one too. A
// present key is skipped only if the kind is monotone, so that its addition changes nothing. Present
// keys of a batch are then found together; the cells of the others are in the caches afterwards. In a filter
// that is full and may not grow they are not: the first absent key ends the batch, and a caller that tries
// the rest again would query it once per refused key.
func (f *Filter) addPredictingGrowth(changed []bool, ds []umbel.Digest) (int, error) {
	g := f.filter.(growthForecaster)
	there := changed
	if f.kind.Monotone && len(ds) > 1 && f.engine.mayGrow(g) == nil {
		umbel.HasAll(f.filter, there, ds)
	} else {
		clear(there)
	}
	for i, d := range ds {
		if there[i] {
			changed[i] = false
			continue
		}
		bytes, err := g.NextGrowth()
		if bytes == 0 && err == nil {
			changed[i] = f.filter.Add(d)
			continue
		}
		if f.filter.Has(d) {
			if changed[i] = false; f.kind.Monotone {
				continue
			}
			if changed[i], err = g.TryAdd(d); err != nil {
				return i, err
			}
			continue
		}
		if err == nil {
			err = f.engine.grow(bytes)
		}
		if err != nil {
			return i, err
		}
		f.bytes.Add(bytes)
		f.shape.Add(1)
		changed[i] = f.filter.Add(d)
	}
	return len(ds), nil
}

// mayGrow returns why the next new key of a filter is refused now, or nil. It reserves nothing.
func (e *Engine) mayGrow(g growthForecaster) error {
	bytes, err := g.NextGrowth()
	if bytes == 0 || err != nil {
		return err
	}
	if err := e.CheckMemory(bytes); err != nil {
		return err
	}
	return e.admit(bytes)
}

// digestBytes is an upper bound of the memory of a listed digest.
const digestBytes = 48

// reserveEstimate reserves memory for n digests of a filter whose memory depends on its keys. The
// real memory is counted again when much of the reservation is an estimate.
func (f *Filter) reserveEstimate(n int) error {
	x := f.ownExtra()
	if x.estimated > max(64<<10, f.bytes.Load()/8) {
		f.recount()
	}
	more := uint64(n) * digestBytes
	err := f.engine.grow(more)
	if err != nil && x.estimated > 0 {
		f.recount()
		err = f.engine.grow(more)
	}
	if err == nil {
		f.bytes.Add(more)
		x.estimated += more
	}
	return err
}

// addEstimate is reserveEstimate without limits, after the digests were added.
func (f *Filter) addEstimate(n int) {
	x, more := f.ownExtra(), uint64(n)*digestBytes
	f.bytes.Add(more)
	f.engine.memory.used.Add(more)
	if x.estimated += more; x.estimated > max(64<<10, f.bytes.Load()/8) {
		f.recount()
	}
}
