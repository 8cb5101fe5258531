package live

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// measured is what a copy of the filter had when it was made.
type measured struct {
	umbel.Stats
	planned umbel.Planned
	changes uint64 // of the filter, at the copy
	weight  uint64 // see counter
	fresh   int64  // keys by then: see Filter.fresh
	// random reports that a key sets K random cells of an array that does not grow and from which none expire, so that
	// the fill ratio follows from the keys.
	random bool
}

// after returns the stats after a number of additions that found their keys absent. It may be negative after removals.
//
// An absent key is found with the false-positive rate p and is not counted then, so that Δ counted keys are Δ/(1-p) keys. They
// are the average of the values at the beginning and at the end, since p rises.
func (m measured) after(fresh int64) umbel.Stats {
	s := m.Stats
	if fresh == 0 {
		return s
	}
	counted := float64(fresh)
	end := max(m.FPRate, m.planned.FPRate) // of kinds that grow or fold to it
	if m.random {
		end = m.rate(m.fill(counted / absent(m.FPRate)))
	}
	n := counted * (1/absent(m.FPRate) + 1/absent(end)) / 2
	if m.random {
		s.Fill = m.fill(n)
		s.FPRate = m.rate(s.Fill)
	}
	// The numbers of keys that were found, and of those that were chosen to be counted, vary as binomial distributions.
	spread := sigmas * math.Sqrt(math.Abs(n-counted)/absent(s.FPRate)+float64(m.weight-1)*math.Abs(counted))
	s.Keys, s.Low, s.High = max(s.Keys+n, 0), max(s.Low+n-spread, 0), max(s.High+n+spread, 0)
	return s
}

// sigmas is the number of standard deviations of an interval with probability 0.95.
const sigmas = 1.96

// absent returns the share of absent keys that are found absent. In a full filter nothing is known.
func absent(rate float64) float64 { return max(1-rate, 0x1p-20) }

// fill returns the fill ratio after n keys: of the cells that were zero, they leave a share of exp(-K·n/m) (Bloom 1970).
func (m measured) fill(n float64) float64 {
	return min(max(1-(1-m.Fill)*math.Exp(-m.K*n/float64(m.Cells)), 0), 1)
}

// rate returns the false-positive rate at a fill ratio. It is proportional to a power of the fill ratio. The exponent is K if the
// cells of a key are independent. In kinds with blocks it is less; then the curve passes through the rate that is planned.
func (m measured) rate(fill float64) float64 {
	at, p, k := m.Fill, m.FPRate, m.K
	if left := float64(m.planned.Keys) - m.Keys; left > m.Keys/8 {
		full := m.fill(left)
		switch e := math.Log(m.planned.FPRate/p) / math.Log(full/at); {
		case at == 0 || p == 0:
			at, p = full, m.planned.FPRate
		case e < k:
			k = max(e, 0)
		}
	}
	if at == 0 {
		return math.Pow(fill, k)
	}
	return min(p*math.Pow(fill/at, k), 1)
}

// room returns the number of fresh keys, at most limit, after which the filter is probably overfull.
func (m measured) room(limit uint64) uint64 {
	p := m.planned
	if !m.random || !p.Exceeded(m.after(int64(limit)).FPRate) {
		return limit
	}
	low, high := uint64(0), limit // not overfull, overfull
	for low+1 < high {
		mid := low + (high-low)/2
		if p.Exceeded(m.after(int64(mid)).FPRate) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// isRandom reports whether the law of [measured] describes a filter with state s.
func isRandom(f umbel.Filter, s umbel.State, cells uint64) bool {
	_, expires := f.(umbel.Advancer)
	_, grows := f.(umbel.Grower)
	_, lists := f.(umbel.PositionLister)
	return cells > 0 && !expires && !grows && len(s.Parts) == 0 && (lists || len(s.Arrays) > 0 && s.Arrays[0].Len == cells)
}

// measureAfter returns the number of changes after which the filter is measured again: an eighth of its keys or a sixteenth of
// those that it is planned for, whichever is more, and at least 64.
func measureAfter(keys float64, p umbel.Planned) uint64 {
	return max(64, p.Keys/16, uint64(min(keys, 1<<62)/8))
}
