package spec

import (
	"encoding/json"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// FromJSON returns the spec in a request for kind v. Parameters that v does not have are kept, so that
// Resolve refuses them.
func FromJSON(v umbel.Kind, in api.FilterSpec) (Spec, error) {
	s := Spec{Goal: umbel.Goal{Keys: uint64(in.Keys), FPRate: float64(in.FPRate), Bytes: uint64(in.Bytes)}, Hash: in.Hash}
	if in.Seed != nil {
		s.Seed = *in.Seed
	}
	if err := in.FPRate.Check(); err != nil {
		return s, err
	}
	for _, doc := range v.Params {
		text, given := in.Params[doc.Name]
		if !given {
			continue
		}
		p := umbel.Param{Name: doc.Name}
		if doc.Float {
			f, err := text.Float64()
			if err != nil {
				return s, sentinel.Errorf(umbel.ErrGoal, "parameter %q: %q is not a number that a float64 can represent", doc.Name, api.Clip(text.String()))
			}
			p.Value = umbel.Float(f)
		} else {
			n, err := api.ParseWhole(text.String())
			if err != nil {
				return s, fmt.Errorf("parameter %q: %w", doc.Name, err)
			}
			p.Value = umbel.Uint(n)
		}
		s.Params = append(s.Params, p)
	}
	for name := range in.Params {
		if _, known := s.Params.Get(name); !known {
			s.Params = append(s.Params, umbel.Param{Name: name})
		}
	}
	return s, nil
}

// JSON returns the request for a filter of a kind.
func (s Spec) JSON(kind string) api.FilterSpec {
	out := api.FilterSpec{
		Kind: kind, Keys: api.Whole(s.Goal.Keys), FPRate: api.Rate(s.Goal.FPRate), Bytes: api.Whole(s.Goal.Bytes),
		Hash: s.Hash, Params: map[string]json.Number{}, TickNanos: uint64(s.Tick),
	}
	if s.Seed != "" {
		out.Seed = &s.Seed
	}
	for _, p := range s.Params {
		out.Params[p.Name] = json.Number(p.Value.String())
	}
	return out
}
