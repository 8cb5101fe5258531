package redisbloom

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is this kind for code that handles any. Its filters hash as the goal says;
// RedisBloom reads those of [RedisHasher].
var Kind = design.Kind[Shape, *Filter]{
	Name:     Name,
	Doc:      "RedisBloom's scalable filter, bit for bit with hash murmur64a (BF.SCANDUMP, BF.LOADCHUNK)",
	Params:   paramDocs,
	Monotone: true,
	Plan:     planWith,
	New:      func(s Shape) (*Filter, error) { return s.make(s.Hasher) },
	Open:     Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "expansion", Doc: "growth of layers, 2 if not given", Min: 1, Max: MaxExpansion},
	{Name: "nonscaling", Doc: "1 for a single layer that is full at its capacity", Min: 1, Max: 1},
}
