package httpapi

import (
	"reflect"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

// operationRoutes are the routes of the table of operations.
func operationRoutes() []route {
	var rs []route
	for _, op := range operation.All {
		right := access.Add
		if op.Removes {
			right = access.Remove
		}
		rs = append(rs, route{pattern: "POST /v1/filters/{name}/" + op.Name, right: right, serve: func(req *request) error {
			n, err := req.readNumber(op.Number)
			if err != nil {
				return err
			}
			return req.changeFilter(func(f *engine.Filter) (engine.Position, error) { return f.Do(op, n) })
		}})
	}
	return rs
}

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

// readNumber returns the number of an operation in the body, such as {"factor": 2}. A rate that is absent is the default rate.
func (req *request) readNumber(of operation.Number) (umbel.Number, error) {
	if of.Name == "" {
		return umbel.Number{}, nil
	}
	t := reflect.TypeFor[*api.Whole]()
	if of.Rate {
		t = reflect.TypeFor[*float64]()
	}
	want := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "Number", Type: t, Tag: reflect.StructTag(`json:"` + of.Name + `"`)}}))
	if err := req.readJSON(want.Interface()); err != nil {
		return umbel.Number{}, err
	}
	switch n := want.Elem().Field(0).Interface().(type) {
	case *float64:
		if n == nil {
			return umbel.Float(spec.DefaultRate), nil
		}
		return umbel.Float(*n), nil
	case *api.Whole:
		if n != nil && (*n != 0 || !of.Positive) {
			return umbel.Uint(uint64(*n)), nil
		}
	}
	return umbel.Number{}, problemf(badRequest, `%s is missing, as in {"%s": %s}`, of.Word, of.Name, of.Example)
}
