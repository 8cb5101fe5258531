package httpapi

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// order is a filter that is wanted.
type order struct {
	Kind    string                 `json:"kind"`
	Keys    whole                  `json:"keys"`
	FPRate  float64                `json:"fpRate"`
	Bytes   whole                  `json:"bytes"`
	Hash    string                 `json:"hash"`
	Seed    *string                `json:"seed"` // hexadecimal
	Params  map[string]json.Number `json:"params"`
	Expires *time.Time             `json:"expires"`
}

// defaultKind is the kind of a filter for which none is given.
const defaultKind = "bloom"

// whole is a whole number that JSON may write as 1000, 1e3 or 1000.0.
type whole uint64

func (w *whole) UnmarshalJSON(b []byte) error {
	n, err := parseWhole(string(bytes.TrimSpace(b)))
	*w = whole(n)
	return err
}

func parseWhole(s string) (uint64, error) {
	if s == "null" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f >= 1<<63 || f != math.Trunc(f) {
		return 0, fmt.Errorf("%q is no whole number from 0 to 2^64-1: %w", clip(s), umbel.ErrGoal)
	}
	return uint64(f), nil
}

// clip shortens what a stranger wrote before it goes into an error.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// goal returns what v is to make, hashing as the node does unless the order says how.
func (o order) goal(v umbel.Kind, h umbel.Hasher) (umbel.Goal, umbel.Params, error) {
	g := umbel.Goal{Keys: uint64(o.Keys), FPRate: o.FPRate, Bytes: uint64(o.Bytes)}
	if v.Name == redisbloom.Name && h == (umbel.Hasher{}) {
		h = redisbloom.RedisHasher // so that Redis can load it
	}
	var err error
	if g.Hasher, err = o.hasher(h); err != nil {
		return g, nil, err
	}
	var ps umbel.Params
	for _, doc := range v.Params {
		text, given := o.Params[doc.Name]
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
			n, err := parseWhole(text.String())
			if err != nil {
				return g, nil, fmt.Errorf("parameter %q: %w", doc.Name, err)
			}
			p.Value = umbel.Uint(n)
		}
		ps = append(ps, p)
	}
	for name := range o.Params {
		if _, known := ps.Get(name); !known { // Check says what there is
			ps = append(ps, umbel.Param{Name: name})
		}
	}
	return g, ps, v.Check(ps)
}

// hasher returns the hasher of the order: the node's, or one of the algorithm given. For
// SipHash without a seed one is drawn: it would protect nothing otherwise.
func (o order) hasher(h umbel.Hasher) (umbel.Hasher, error) {
	var err error
	if o.Hash != "" {
		own := h
		h = umbel.Hasher{}
		if h.Alg, err = umbel.ParseAlg(o.Hash); err != nil {
			return h, err
		}
		if own.Alg == h.Alg && o.Seed == nil {
			h = own
		}
	}
	switch {
	case o.Seed != nil:
		if h.Seed, err = umbel.ParseSeed(*o.Seed); err != nil {
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
