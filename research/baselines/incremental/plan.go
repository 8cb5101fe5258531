package incremental

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Kind describes this kind to code that handles any kind.
var Kind umbel.Kind = newKind()

func newKind() umbel.Kind {
	k := umbel.Kind{
		Name: Name,
		Doc:  "layers opened one by one, so that its size grows with its keys up to a maximum (Hao, Kodialam and Lakshman 2008)",
		Params: []umbel.ParamDoc{
			{Name: "planes", Doc: "layers with the maximum of keys", Min: 1, Max: MaxLayers},
		},
	}
	checked := func(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
		if err := k.Check(ps); err != nil {
			return Shape{}, 0, err
		}
		return planWith(g, ps)
	}
	k.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
		s, n, err := checked(g, ps)
		if err != nil {
			return umbel.Forecast{}, err
		}
		return s.Forecast(n), nil
	}
	k.Shape = func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) { return checked(g, ps) }
	k.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		s, n, err := checked(g, ps)
		if err != nil {
			return nil, err
		}
		f, err := NewShape(s)
		if err != nil {
			return nil, err
		}
		f.SetPlanned(umbel.PlannedBy(g, s.Forecast(n)))
		return f, nil
	}
	k.Open = func(s umbel.State) (umbel.Filter, error) {
		f, err := Open(s)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	return k
}

// planWith is Plan with a parameter that may fix the number of layers. It also returns the
// maximum of keys.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	if g.Keys > 1<<56 || g.Bytes > 1<<53 {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "incremental: %d keys in %d bytes, want at most 2^56 and 2^53", g.Keys, g.Bytes)
	}
	layers := int(ps.Uint("planes"))
	var s Shape
	var err error
	n := g.Keys
	switch {
	case g.Bytes == 0:
		s, err = size(n, g.FPRate, layers)
	case g.FPRate != 0:
		n, s, err = mostKeys(g.FPRate, g.Bytes, layers)
	default:
		s, err = leastRate(n, g.Bytes, layers)
	}
	if err != nil {
		return Shape{}, 0, err
	}
	s.Hasher = g.Hasher
	return s, n, s.Check()
}

// size returns the shape for n keys at rate p. Layers differ in the number of keys that fill
// them, so the last has room for three standard deviations: the variance of the keys of a
// half full layer is 0.44 n/k.
func size(n uint64, p float64, layers int) (Shape, error) {
	ps, _, err := Divide(n, p, layers, MaxLayers, bloom.MaxK)
	if err != nil {
		return Shape{}, err
	}
	s := Shape{Layers: make([]Layer, len(ps))}
	each := layerRate(p, len(ps))
	for i, x := range ps {
		keys := x.Keys
		if i == len(ps)-1 {
			keys += uint64(math.Ceil(2 * math.Sqrt(float64(n)/float64(x.K))))
		}
		s.Layers[i] = layerFor(keys, x.K, each)
	}
	return s, s.Check()
}

// bytes returns the memory of all layers.
func (s Shape) bytes() uint64 {
	var n uint64
	for _, l := range s.Layers {
		n += l.bytes()
	}
	return n
}

// guesses is the number of times that the best number of layers is guessed before all
// numbers are tried for each size: finding the best takes as long as planning for all.
const guesses = 3

// mostKeys returns the largest number of keys that fit into the bytes at rate p, and the
// shape for them.
func mostKeys(p float64, bytes uint64, layers int) (uint64, Shape, error) {
	for guess, try := 1, 0; layers == 0 && try < guesses; try++ {
		n, _, err := mostKeysIn(p, bytes, guess)
		if err != nil {
			break
		}
		s, err := size(n, p, 0)
		if err != nil {
			break
		}
		if len(s.Layers) == guess && s.bytes() <= bytes {
			if more, err := size(n+1, p, 0); err != nil || more.bytes() > bytes {
				return n, s, nil
			}
		}
		guess = len(s.Layers)
	}
	return mostKeysIn(p, bytes, layers)
}

// mostKeysIn is mostKeys by trying numbers of keys.
func mostKeysIn(p float64, bytes uint64, layers int) (uint64, Shape, error) {
	fits := func(n uint64) bool {
		s, err := size(n, p, layers)
		return err == nil && s.bytes() <= bytes
	}
	first := uint64(max(layers, 1))
	most := largest(first-1, first, 1<<56, fits)
	s, err := size(most, p, layers)
	if err != nil || s.bytes() > bytes {
		return 0, Shape{}, sentinel.Errorf(umbel.ErrGoal,
			"incremental: %d bytes are too few for one key at a rate of %.3g: allow more bytes or a higher rate", bytes, p)
	}
	return most, s, nil
}

// leastRate returns the shape with the lowest rate, to one part in a thousand, for n keys
// in the bytes.
func leastRate(n, bytes uint64, layers int) (Shape, error) {
	for guess, try := 1, 0; layers == 0 && try < guesses; try++ {
		p, _, err := leastRateIn(n, bytes, guess)
		if err != nil {
			break
		}
		s, err := size(n, p, 0)
		if err != nil {
			break
		}
		if len(s.Layers) == guess && s.bytes() <= bytes {
			return s, nil
		}
		guess = len(s.Layers)
	}
	_, s, err := leastRateIn(n, bytes, layers)
	return s, err
}

// leastRateIn is leastRate by trying rates. It also returns the rate of the shape.
func leastRateIn(n, bytes uint64, layers int) (float64, Shape, error) {
	most := math.Log1p(-0x1p-20)
	best, err := size(n, math.Exp(most), layers)
	if err != nil || best.bytes() > bytes {
		return 0, Shape{}, sentinel.Errorf(umbel.ErrGoal, "incremental: %d bytes are too few for %d keys", bytes, n)
	}
	low, high := math.Log(0x1p-300), most
	for high-low > 0.001 {
		mid := (low + high) / 2
		if s, err := size(n, math.Exp(mid), layers); err == nil && s.bytes() <= bytes {
			best, high = s, mid
		} else {
			low = mid
		}
	}
	return math.Exp(high), best, nil
}

// largest returns the largest n from low on, below about twice the limit, for which ok is
// true. ok is true at low and false from some number on. largest doubles high, which is
// above low, until ok is false there or the limit is reached, and then bisects.
func largest(low, high, limit uint64, ok func(n uint64) bool) uint64 {
	for high < limit && ok(high) {
		low, high = high, high*2
	}
	for low+1 < high {
		if middle := low + (high-low)/2; ok(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
