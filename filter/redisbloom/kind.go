package redisbloom

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is this kind for code that handles any. Its filters hash as the goal says;
// RedisBloom reads those of [RedisHasher].
var Kind = design.Kind[shape, *Filter]{
	Name:     Name,
	Doc:      "RedisBloom's scalable filter, bit for bit with hash murmur64a (BF.SCANDUMP, BF.LOADCHUNK)",
	Params:   paramDocs,
	Monotone: true,
	Plan:     planWith,
	Explain:  explain,
	New:      func(s shape) (*Filter, error) { return s.make(s.hasher) },
	Open:     Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "expansion", Doc: "growth of layers, 2 if not given", Min: 1, Max: MaxExpansion},
	{Name: "nonscaling", Doc: "1 for a single layer that is full at its capacity", Min: 1, Max: 1},
}

// explain returns RedisBloom's formulas for a filter, and ours for its rate.
func explain(s shape, n uint64) []umbel.Formula {
	l, err := s.first()
	if err != nil {
		return nil
	}
	fill := 1 - math.Pow(1-1/float64(l.bits), float64(l.k)*float64(n))
	fs := []umbel.Formula{
		{
			What: "bits per key", General: "-ln e / (ln 2)²", Numbers: fmt.Sprintf("-ln %.4g / 0.480453013918201", l.rate),
			Value: fmt.Sprintf("%.4f", l.bitsPerKey), Source: "Bloom 1970, as RedisBloom has it",
		},
		{
			What: "bits", General: "⌈⌊c·b⌋/64⌉·64", Numbers: fmt.Sprintf("⌈⌊%d·%.4f⌋/64⌉·64", l.capacity, l.bitsPerKey),
			Value: fmt.Sprintf("%d bits", l.bits), Source: "RedisBloom",
		},
		{
			What: "bits set per key", General: "⌈b ln 2⌉", Numbers: fmt.Sprintf("⌈%.4f·0.693147180559945⌉", l.bitsPerKey),
			Value: fmt.Sprint(l.k), Source: "Bloom 1970, as RedisBloom has it",
		},
		{
			What: fmt.Sprintf("share of bits set with %d keys", n), General: "f = 1 - (1 - 1/m)^(kn)", Numbers: fmt.Sprintf("1 - (1 - 1/%d)^(%d·%d)", l.bits, l.k, n),
			Value: fmt.Sprintf("%.4f", fill), Source: "Bloom 1970",
		},
		{
			What: fmt.Sprintf("false-positive rate with %d keys", n), General: "f^k + excess of double hashing, about 1/m",
			Numbers: fmt.Sprintf("%.4f^%d + %.3g", fill, l.k, l.falseRate(n)-math.Pow(fill, float64(l.k))),
			Value:   fmt.Sprintf("%.4g", l.falseRate(n)), Source: "Dillinger and Manolios 2004; Kirsch and Mitzenmacher 2006",
		},
	}
	if s.NonScaling {
		return fs
	}
	return append([]umbel.Formula{{
		What: "error rate of the first layer", General: "e = p/2, so that p/2 + p/4 + … is at most p", Numbers: fmt.Sprintf("%.4g/2", min(s.ErrorRate, MaxErrorRate)),
		Value: fmt.Sprintf("%.4g", l.rate), Source: "Almeida et al. 2007, section 4.1, with r = 1/2",
	}}, fs...)
}
