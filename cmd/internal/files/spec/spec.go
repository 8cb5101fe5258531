// Package spec describes filters to be made: their size, hash and parameters as users specify them on
// the command line, in commands of Redis clients and in JSON. The rules for what is left out are the same
// everywhere.
package spec

import (
	"crypto/rand"
	"strconv"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// DefaultRate is the false-positive rate of filters for which none is specified.
const DefaultRate = 0.01

// LeastRate is the lowest false-positive rate of filters for which none is specified: memory for a lower one is
// room for more keys. A query of a filter for 1e-50 would examine more than 160 cells, and 1 % more keys than
// planned would more than double the rate.
const LeastRate = 1e-9

// Spec specifies a filter. The zero value specifies nothing.
type Spec struct {
	Goal   umbel.Goal // without hasher; may be incomplete
	Hash   string     // "": the default hash
	Seed   string     // hexadecimal; "": the default seed
	Params umbel.Params
	// Tick is the length of a tick of a filter that is to follow the clock, because a parameter was given as a
	// duration; 0 otherwise.
	Tick time.Duration
}

// Resolve returns the goal with a hasher, and with DefaultRate if it needs one. The hasher is h with
// the algorithm and seed of the spec. It returns an error wrapping umbel.ErrGoal if kind v does not have
// the parameters or the hash does not exist. The goal may still be incomplete.
func (s Spec) Resolve(v umbel.Kind, h umbel.Hasher) (umbel.Goal, error) {
	g := s.Goal
	var err error
	if g.Hasher, err = s.hasher(v, h); err != nil {
		return g, err
	}
	if err := v.Check(s.Params); err != nil {
		return g, err
	}
	return Complete(v, g, s.Params), nil
}

// Complete returns g with DefaultRate if only the number of keys is given, unless the parameters determine
// the filter. If keys and bytes without a rate would be a filter with a lower rate than LeastRate, it returns
// the goal of a filter of these bytes with LeastRate, which has room for more keys.
func Complete(v umbel.Kind, g umbel.Goal, ps umbel.Params) umbel.Goal {
	if g.Keys == 0 || g.FPRate != 0 {
		return g
	}
	forecast, err := v.Plan(g, ps)
	switch {
	case g.Bytes == 0 && err != nil:
		g.FPRate = DefaultRate
	case g.Bytes != 0 && err == nil && forecast.FPRate < LeastRate && forecast.Bytes > g.Bytes/2: // others need less memory
		room := g
		room.Keys, room.FPRate = 0, LeastRate
		if more, err := v.Plan(room, ps); err == nil && more.Keys > g.Keys {
			return room
		}
	}
	return g
}

// hasher returns the hasher of a filter. A spec with the algorithm of h and without a seed keeps the seed
// of h, so that filters can be merged. Otherwise SipHash without a seed gets a random one, because it
// protects only if its seed is secret.
func (s Spec) hasher(v umbel.Kind, h umbel.Hasher) (umbel.Hasher, error) {
	if v.Name == redisbloom.Name && h == (umbel.Hasher{}) {
		h = redisbloom.RedisHasher // so that Redis can load the filter
	}
	if s.Hash != "" {
		alg, err := umbel.ParseAlg(s.Hash)
		if err != nil {
			return h, err
		}
		if alg != h.Alg {
			h = umbel.Hasher{Alg: alg}
		}
	}
	switch {
	case s.Seed != "":
		var err error
		if h.Seed, err = umbel.ParseSeed(s.Seed); err != nil {
			return h, err
		}
	case h.Alg == umbel.SipHash && h.Seed == umbel.Seed{}:
		var b [16]byte
		rand.Read(b[:])
		h.Seed = umbel.SeedFrom(b)
	}
	if err := h.Check(); err != nil {
		return h, sentinel.Wrap(umbel.ErrGoal, err)
	}
	return h, nil
}

// parseParam parses the value of a parameter: a count, or any number if it may have a fraction.
func parseParam(doc umbel.ParamDoc, text string) (umbel.Number, error) {
	if doc.Float {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return umbel.Number{}, sentinel.Errorf(umbel.ErrGoal, "%s %.40q: want a number", doc.Name, text)
		}
		return umbel.Float(f), nil
	}
	n, err := quantity.ParseCount(text)
	return umbel.Uint(uint64(n)), err
}
