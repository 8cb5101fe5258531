package kinds

import (
	"github.com/umbel-filters/umbel"
)

// Kind describes a kind with its own types: S is its shape, F its filter.
type Kind[S umbel.Shape, F umbel.Filter] struct {
	Name, Doc string
	Params    []umbel.ParamDoc
	Monotone  bool // see umbel.Kind
	// Plan returns the shape for a goal and parameters that have been checked, and the number
	// of keys that it is planned for.
	Plan func(umbel.Goal, umbel.Params) (S, uint64, error)
	New  func(S) (F, error)
	Open func(umbel.State) (F, error)
	// Locator is that of umbel.Kind.
	Locator func(umbel.State) (umbel.Locator, error)
}

// Kind returns the description for code that handles any kind.
func (k Kind[S, F]) Kind() umbel.Kind {
	return umbel.Kind{
		Name: k.Name, Doc: k.Doc, Params: k.Params, Monotone: k.Monotone,
		Plan: func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			s, n, err := k.plan(g, ps)
			if err != nil {
				return umbel.Forecast{}, err
			}
			return s.Forecast(n), nil
		},
		Shape: func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) {
			s, n, err := k.plan(g, ps)
			if err != nil {
				return nil, 0, err
			}
			return s, n, nil
		},
		New: func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			s, n, err := k.plan(g, ps)
			if err != nil {
				return nil, err
			}
			f, err := k.New(s)
			if err != nil {
				return nil, err
			}
			record(f, g, s, n)
			return f, nil
		},
		Open:    func(s umbel.State) (umbel.Filter, error) { return AsFilter(k.Open(s)) },
		Locator: k.locator(),
	}
}

// locator returns Locator so that nothing but Locate of what it returns, which has no cells, can be called.
func (k Kind[S, F]) locator() func(umbel.State) (umbel.Locator, error) {
	if k.Locator == nil {
		return nil
	}
	return func(s umbel.State) (umbel.Locator, error) {
		l, err := k.Locator(s)
		if err != nil {
			return nil, err
		}
		return struct{ umbel.Locator }{l}, nil
	}
}

func (k Kind[S, F]) plan(g umbel.Goal, ps umbel.Params) (S, uint64, error) {
	var none S
	if err := ps.Check(k.Name, k.Params); err != nil {
		return none, 0, err
	}
	return k.Plan(g, ps)
}

// Plan checks a goal and returns the shape that with returns for it, without parameters.
func Plan[S any](g umbel.Goal, with func(umbel.Goal, umbel.Params) (S, uint64, error)) (S, error) {
	if err := g.Check(); err != nil {
		var none S
		return none, err
	}
	s, _, err := with(g, nil)
	return s, err
}

// record sets what the filter f of shape s was planned for: the rate of g, or the one of s if g has none, with
// n keys.
func record(f umbel.Filter, g umbel.Goal, s umbel.Shape, n uint64) {
	forecast := umbel.Forecast{Keys: n}
	if g.FPRate == 0 {
		forecast = s.Forecast(n)
	}
	if p, ok := f.(umbel.Planner); ok {
		p.SetPlanned(umbel.PlannedBy(g, forecast))
	}
}

// AsFilter returns f as an umbel.Filter, which is nil if err is not.
func AsFilter[F umbel.Filter](f F, err error) (umbel.Filter, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}
