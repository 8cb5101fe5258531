package httpapi

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// changeFilter responds after change has changed the filter.
func (req *request) changeFilter(change func(*engine.Filter) (engine.Position, error)) error {
	f, err := req.filter()
	if err != nil {
		return err
	}
	pos, err := change(f)
	if err != nil {
		return err
	}
	return req.respondInfo(f, pos, false)
}

// clearFilter removes all keys.
func (req *request) clearFilter() error { return req.changeFilter((*engine.Filter).Clear) }

// seal converts the added keys into the form for fast queries.
func (req *request) seal() error { return req.changeFilter((*engine.Filter).Seal) }

func (req *request) fold() error   { return req.resize((*engine.Filter).Fold) }
func (req *request) unfold() error { return req.resize((*engine.Filter).Unfold) }

// resize shrinks or enlarges a filter by a factor.
func (req *request) resize(by func(*engine.Filter, uint64) (engine.Position, error)) error {
	var want struct {
		Factor api.Whole `json:"factor"`
	}
	if err := req.readJSON(&want); err != nil {
		return err
	}
	if want.Factor == 0 {
		return problemf(badRequest, `factor is missing, as in {"factor": 2}`)
	}
	return req.changeFilter(func(f *engine.Filter) (engine.Position, error) { return by(f, uint64(want.Factor)) })
}

// advance advances the clock of a filter, which drops expired keys.
func (req *request) advance() error {
	var want struct {
		To *api.Whole `json:"to"`
	}
	if err := req.readJSON(&want); err != nil {
		return err
	}
	if want.To == nil {
		return problemf(badRequest, `time is missing, as in {"to": 5}`)
	}
	return req.changeFilter(func(f *engine.Filter) (engine.Position, error) { return f.Advance(uint64(*want.To)) })
}

// compact joins the layers of a filter as far as its rate stays at most fpRate, or the default rate.
func (req *request) compact() error {
	want := struct {
		FPRate float64 `json:"fpRate"`
	}{spec.DefaultRate}
	if err := req.readJSON(&want); err != nil {
		return err
	}
	return req.changeFilter(func(f *engine.Filter) (engine.Position, error) {
		return f.Update(func(f umbel.Filter) (umbel.Filter, error) {
			j, ok := f.(ability.Compacter)
			if !ok {
				return nil, cannot(f, "has no layers to join")
			}
			return f, j.Compact(want.FPRate)
		})
	})
}
