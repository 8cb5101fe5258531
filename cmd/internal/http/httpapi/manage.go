package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/filter/window"
)

// putFilter makes a filter: an empty one from a spec, or the one in a container.
func (req *request) putFilter() error {
	media, err := bodyType(req.http, api.MediaJSON, api.MediaContainer)
	if err != nil {
		return err
	}
	if media == api.MediaContainer {
		return req.putContainer()
	}
	if req.http.Header.Get("If-Match") != "" {
		return problemf(badRequest, "If-Match needs a container; a spec never replaces a filter")
	}
	return req.create()
}

// defaultKind is the kind of a filter if the request names none.
const defaultKind = "bloom"

// resolve returns the goal and the parameters that a request specifies for a filter of kind v.
func (req *request) resolve(v umbel.Kind, want api.FilterSpec) (umbel.Goal, umbel.Params, error) {
	s, err := spec.FromJSON(v, want)
	if err != nil {
		return umbel.Goal{}, nil, err
	}
	goal, err := s.Resolve(v, req.Hasher)
	return goal, s.Params, err
}

func (req *request) create() error {
	var want api.FilterSpec
	if err := req.readJSON(&want); err != nil {
		return err
	}
	if want.Kind == "" {
		want.Kind = defaultKind
	}
	v, err := req.Engine.Kinds().Find(want.Kind)
	if err != nil {
		return err
	}
	goal, params, err := req.resolve(v, want)
	if err != nil {
		return err
	}
	if want.TickNanos > math.MaxInt64 {
		return problemf(badRequest, "tickNanos is %d, want at most 2^63-1", want.TickNanos)
	}
	if _, given := want.Params["window"]; want.TickNanos != 0 && want.Kind == window.Name && !given {
		return problemf(badRequest, "tickNanos without params.window: give the number of ticks for which keys stay")
	}
	if want.Expires != nil {
		if err := req.require(access.Remove, req.name); err != nil {
			return err
		}
		if millis(want.Expires) <= req.Engine.Now() {
			return problemf(badRequest, "expires is %s, which is in the past", want.Expires.UTC().Format(time.RFC3339))
		}
	}
	f, pos, err := req.Engine.CreateWith(req.name, want.Kind, goal, params, engine.CreateOptions{Expires: millis(want.Expires), Tick: want.TickNanos})
	if errors.Is(err, engine.ErrExists) {
		err = fmt.Errorf("%q: %w", req.name, err)
	}
	if err != nil {
		return err
	}
	return req.respondInfo(f, pos, true)
}

// respondInfo responds with the description of a filter after a change.
func (req *request) respondInfo(f *engine.Filter, pos engine.Position, fresh bool) error {
	if err := req.waitDurable(pos); err != nil {
		return err
	}
	in, err := req.newInfo(f)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
		req.Header().Set("Location", in.Path)
	}
	return writeJSON(req.response, status, in)
}

// millis converts a time to the engine's milliseconds since 1970, in which 0 means never. Earlier
// times become 1, which is expired.
func millis(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return max(t.UnixMilli(), 1)
}

// otherName returns the name of a second filter, "" if none is set.
func otherName(n api.FilterName) (string, error) {
	name, err := n.Decode()
	if err != nil {
		return "", asProblem(badRequest, err)
	}
	return name, checkNameLength(name)
}

func checkNameLength(name string) error {
	if len(name) > maxName {
		return problemf(badRequest, "the name has %d bytes; at most %d are allowed", len(name), maxName)
	}
	return nil
}

// requiredName is otherName, with an error if no name is set.
func requiredName(n api.FilterName) (string, error) {
	name, err := otherName(n)
	if err == nil && name == "" {
		err = problemf(badRequest, "the name of the other filter is missing or empty")
	}
	return name, err
}

// expiry distinguishes a time, null (never), and an absent field.
type expiry struct {
	given bool
	at    *time.Time
}

func (e *expiry) UnmarshalJSON(b []byte) error {
	e.given = true
	return json.Unmarshal(b, &e.at)
}

// modify changes the name or the expiry of a filter.
func (req *request) modify() error {
	if _, err := bodyType(req.http, api.MediaMerge, api.MediaJSON); err != nil {
		return err
	}
	var want struct {
		Name       *string `json:"name"`
		NameBase64 *string `json:"nameBase64"`
		Replace    bool    `json:"replace"`
		Expires    expiry  `json:"expires"`
	}
	if err := req.readJSON(&want); err != nil {
		return err
	}
	f, err := req.filter()
	if err != nil {
		return err
	}
	to := req.name
	if want.Name != nil || want.NameBase64 != nil {
		if to, err = requiredName(api.FilterName{Name: deref(want.Name), NameBase64: deref(want.NameBase64)}); err != nil {
			return err
		}
	}
	var pos engine.Position
	if to != req.name { // other users may be allowed to read it under the new name
		if err := req.require(access.Read, req.name); err != nil {
			return err
		}
		if pos, err = req.makeAs(to, want.Replace, func(replace bool) (engine.Position, error) {
			return req.Engine.Rename([]byte(req.name), []byte(to), replace)
		}); err != nil {
			return err
		}
	}
	if want.Expires.given {
		at, err := f.Expire(millis(want.Expires.at))
		if err != nil {
			return err
		}
		pos = max(pos, at)
	}
	return req.respondInfo(f, pos, false)
}

// deref returns *p, or the zero value if p is nil.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// makeAs calls do, which gives a filter a name, if the user may make a filter with this name. do
// may replace another filter only if that was requested and the user may remove it.
func (req *request) makeAs(name string, replace bool, do func(replace bool) (engine.Position, error)) (engine.Position, error) {
	if err := req.require(access.Add, name); err != nil {
		return 0, err
	}
	if err := req.placeOf(name, true); err != nil {
		return 0, err
	}
	mayReplace := replace && req.allowed(access.Remove, name)
	pos, err := do(mayReplace)
	switch {
	case !errors.Is(err, engine.ErrExists):
		return pos, err
	case replace && !mayReplace:
		return 0, req.require(access.Remove, name)
	}
	return pos, fmt.Errorf("%q: %w", name, err)
}

func (req *request) deleteFilter() error {
	found, pos, err := req.Engine.Delete([]byte(req.name))
	if err != nil {
		return err
	}
	if !found {
		_, err := req.filter()
		return err
	}
	if err := req.waitDurable(pos); err != nil {
		return err
	}
	req.WriteHeader(http.StatusNoContent)
	return nil
}

// copyFilter makes a second filter with the current contents.
func (req *request) copyFilter() error {
	var want struct {
		api.FilterName
		Replace bool `json:"replace"`
	}
	if err := req.readJSON(&want); err != nil {
		return err
	}
	to, err := requiredName(want.FilterName)
	if err != nil {
		return err
	}
	if _, err := req.completeFilter(req.name); err != nil {
		return err
	}
	pos, err := req.makeAs(to, want.Replace, func(replace bool) (engine.Position, error) {
		return req.Engine.Copy([]byte(req.name), []byte(to), replace)
	})
	if err != nil {
		return err
	}
	f, err := req.find(to)
	if err != nil {
		return err
	}
	return req.respondInfo(f, pos, true)
}
