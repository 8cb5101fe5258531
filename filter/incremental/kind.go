package incremental

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Kind is this kind for code that handles any.
var Kind = design.Kind[Shape, *Filter]{
	Name:   Name,
	Doc:    "planes opened one by one, so that its size grows with its keys up to a maximum (Hao, Kodialam and Lakshman 2008)",
	Params: paramDocs,
	Plan:   planWith,
	New:    NewShape,
	Open:   Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "planes", Doc: "planes at the maximum of keys", Min: 1, Max: MaxLayers},
}

// planWith is Plan with the number of planes given, or zero; it also returns the
// maximum of keys.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	if g.Keys > 1<<56 || g.Bytes > 1<<53 {
		return Shape{}, 0, fmt.Errorf("incremental: %d keys in %d bytes, want at most 2^56 and 2^53: %w", g.Keys, g.Bytes, umbel.ErrGoal)
	}
	planes := int(ps.Uint("planes"))
	var s Shape
	var err error
	n := g.Keys
	switch {
	case g.Bytes == 0:
		s, err = size(n, g.FPRate, planes)
	case g.FPRate != 0:
		n, s, err = mostKeys(g.FPRate, g.Bytes, planes)
	default:
		s, err = leastRate(n, g.Bytes, planes)
	}
	if err != nil {
		return Shape{}, 0, err
	}
	s.Hasher = g.Hasher
	return s, n, s.Check()
}

// size returns the shape for n keys at rate p. Planes differ in how many keys they
// take before they have their bits, so the last one has room for three standard
// deviations of that: the variance of the keys of a half full plane is 0.44 n/k.
func size(n uint64, p float64, planes int) (Shape, error) {
	ps, _, err := plan.IncrementalLayers(n, p, planes, MaxLayers, bloom.MaxK)
	if err != nil {
		return Shape{}, fmt.Errorf("incremental: %w: %w", err, umbel.ErrGoal)
	}
	s := Shape{Planes: make([]Layer, len(ps))}
	each := plan.LayeredFPRate(p, len(ps))
	for i, x := range ps {
		keys := x.Keys
		if i == len(ps)-1 {
			keys += uint64(math.Ceil(2 * math.Sqrt(float64(n)/float64(x.K))))
		}
		s.Planes[i] = planeFor(keys, x.K, each)
	}
	return s, s.Check()
}

// bytes returns the memory of all planes.
func (s Shape) bytes() uint64 {
	var n uint64
	for _, p := range s.Planes {
		n += (p.M + 63) / 64 * 8
	}
	return n
}

// guesses is how often the best number of planes is guessed before all are tried for each size:
// to look for the best number takes as long as to plan for all numbers.
const guesses = 3

// mostKeys returns the largest number of keys, and its shape, for which so many
// bytes have the rate p.
func mostKeys(p float64, bytes uint64, planes int) (uint64, Shape, error) {
	for guess, try := 1, 0; planes == 0 && try < guesses; try++ {
		n, _, err := mostKeysIn(p, bytes, guess)
		if err != nil {
			break
		}
		s, err := size(n, p, 0)
		if err != nil {
			break
		}
		if len(s.Planes) == guess && s.bytes() <= bytes {
			if more, err := size(n+1, p, 0); err != nil || more.bytes() > bytes {
				return n, s, nil
			}
		}
		guess = len(s.Planes)
	}
	return mostKeysIn(p, bytes, planes)
}

// mostKeysIn is mostKeys by trying numbers of keys.
func mostKeysIn(p float64, bytes uint64, planes int) (uint64, Shape, error) {
	fits := func(n uint64) bool {
		s, err := size(n, p, planes)
		return err == nil && s.bytes() <= bytes
	}
	low, high := uint64(max(planes, 1)-1), uint64(max(planes, 1))
	for high < 1<<56 && fits(high) {
		low, high = high, high*2
	}
	for low+1 < high {
		if mid := low + (high-low)/2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	s, err := size(low, p, planes)
	if err != nil || s.bytes() > bytes {
		return 0, Shape{}, fmt.Errorf("incremental: %d bytes don't hold one key in a plane at a rate of %.3g: allow more, or a higher rate: %w", bytes, p, umbel.ErrGoal)
	}
	return low, s, nil
}

// leastRate returns the shape with the least rate, to one part in a thousand, that
// holds n keys in so many bytes.
func leastRate(n, bytes uint64, planes int) (Shape, error) {
	for guess, try := 1, 0; planes == 0 && try < guesses; try++ {
		p, _, err := leastRateIn(n, bytes, guess)
		if err != nil {
			break
		}
		s, err := size(n, p, 0)
		if err != nil {
			break
		}
		if len(s.Planes) == guess && s.bytes() <= bytes {
			return s, nil
		}
		guess = len(s.Planes)
	}
	_, s, err := leastRateIn(n, bytes, planes)
	return s, err
}

// leastRateIn is leastRate by trying rates; it returns that of the shape too.
func leastRateIn(n, bytes uint64, planes int) (float64, Shape, error) {
	most := math.Log1p(-0x1p-20)
	best, err := size(n, math.Exp(most), planes)
	if err != nil || best.bytes() > bytes {
		return 0, Shape{}, fmt.Errorf("incremental: %d bytes are too few for %d keys: %w", bytes, n, umbel.ErrGoal)
	}
	low, high := math.Log(0x1p-300), most
	for high-low > 0.001 {
		mid := (low + high) / 2
		if s, err := size(n, math.Exp(mid), planes); err == nil && s.bytes() <= bytes {
			best, high = s, mid
		} else {
			low = mid
		}
	}
	return math.Exp(high), best, nil
}
