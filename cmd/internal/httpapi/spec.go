package httpapi

import (
	"crypto/rand"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/api"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// defaultKind is the kind of a filter if the request names none.
const defaultKind = "bloom"

// goalOf returns the goal and the parameters that a spec has for kind v. The hasher is h, the server's
// default, unless the spec sets one.
func goalOf(spec api.FilterSpec, v umbel.Kind, h umbel.Hasher) (umbel.Goal, umbel.Params, error) {
	g := umbel.Goal{Keys: uint64(spec.Keys), FPRate: spec.FPRate, Bytes: uint64(spec.Bytes)}
	if v.Name == redisbloom.Name && h == (umbel.Hasher{}) {
		h = redisbloom.RedisHasher // so that Redis can load the filter
	}
	var err error
	if g.Hasher, err = hasherOf(spec, h); err != nil {
		return g, nil, err
	}
	var ps umbel.Params
	for _, doc := range v.Params {
		text, given := spec.Params[doc.Name]
		if !given {
			continue
		}
		p := umbel.Param{Name: doc.Name}
		if doc.Float {
			f, err := text.Float64()
			if err != nil {
				return g, nil, fmt.Errorf("parameter %q: %w: %w", doc.Name, err, umbel.ErrGoal)
			}
			p.Value = umbel.Float(f)
		} else {
			n, err := api.ParseWhole(text.String())
			if err != nil {
				return g, nil, fmt.Errorf("parameter %q: %w", doc.Name, err)
			}
			p.Value = umbel.Uint(n)
		}
		ps = append(ps, p)
	}
	for name := range spec.Params {
		if _, known := ps.Get(name); !known { // the error of Check lists the known ones
			ps = append(ps, umbel.Param{Name: name})
		}
	}
	return g, ps, v.Check(ps)
}

// hasherOf returns the hasher of a spec: h, or one with the algorithm and seed of the spec. SipHash
// without a seed gets a random one, because it protects only if its seed is secret.
func hasherOf(spec api.FilterSpec, h umbel.Hasher) (umbel.Hasher, error) {
	var err error
	if spec.Hash != "" {
		fallback := h
		h = umbel.Hasher{}
		if h.Alg, err = umbel.ParseAlg(spec.Hash); err != nil {
			return h, err
		}
		if fallback.Alg == h.Alg && spec.Seed == nil {
			h = fallback
		}
	}
	switch {
	case spec.Seed != nil:
		if h.Seed, err = umbel.ParseSeed(*spec.Seed); err != nil {
			return h, err
		}
	case h.Alg == umbel.SipHash && h.Seed == umbel.Seed{}:
		var b [16]byte
		rand.Read(b[:])
		h.Seed = umbel.SeedFrom(b)
	}
	if err := h.Check(); err != nil {
		return h, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
	}
	return h, nil
}
