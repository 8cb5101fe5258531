package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// put makes a filter: an empty one of an order, or the one in a container.
func (c *call) put() error {
	media, err := bodyType(c.request, mediaJSON, mediaContainer)
	if err != nil {
		return err
	}
	if media == mediaContainer {
		return c.takeContainer()
	}
	if c.request.Header.Get("If-Match") != "" {
		return problemf(badRequest, "If-Match goes with a container: an order makes only what isn't there")
	}
	return c.create()
}

func (c *call) create() error {
	var want order
	if err := c.readJSON(&want); err != nil {
		return err
	}
	if want.Kind == "" {
		want.Kind = defaultKind
	}
	v, err := c.Engine.Kinds().Find(want.Kind)
	if err != nil {
		return err
	}
	goal, params, err := want.goal(v, c.Hasher)
	if err != nil {
		return err
	}
	if want.Expires != nil {
		if err := c.may(access.Remove, c.name); err != nil {
			return err
		}
	}
	f, pos, err := c.Engine.Create(c.name, want.Kind, goal, params)
	if errors.Is(err, engine.ErrExists) {
		err = fmt.Errorf("%q: %w", c.name, err)
	}
	if err != nil {
		return err
	}
	if want.Expires != nil {
		at, err := f.Expire(millis(want.Expires))
		pos = max(pos, at)
		if err != nil {
			return err
		}
	}
	return c.made(f, pos, true)
}

// made answers after a filter was made or replaced.
func (c *call) made(f *engine.Filter, pos engine.Position, fresh bool) error {
	if err := c.kept(pos); err != nil {
		return err
	}
	in, err := c.infoOf(f)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
		c.Header().Set("Location", in.Path)
	}
	return writeJSON(c.answer, status, in)
}

// millis returns a time as the engine has it. What lies before 1970 is over, and 0 is
// never.
func millis(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return max(t.UnixMilli(), 1)
}

// other names a second filter.
type other struct {
	Name       string `json:"name"`
	NameBase64 string `json:"nameBase64"` // in its place, for one that isn't UTF-8
}

// name returns the name, "" if none is given.
func (o other) name() (string, error) {
	name := o.Name
	if o.NameBase64 != "" {
		b, err := base64.StdEncoding.DecodeString(o.NameBase64)
		if err != nil || name != "" {
			return "", problemf(badRequest, "give name, or nameBase64 in base64")
		}
		name = string(b)
	}
	if len(name) > maxName {
		return "", problemf(badRequest, "the name has %d bytes, at most %d are allowed", len(name), maxName)
	}
	return name, nil
}

// required is name for who can't do without.
func (o other) required() (string, error) {
	name, err := o.name()
	if err == nil && name == "" {
		err = problemf(badRequest, "give the name of the other filter")
	}
	return name, err
}

// expiry is a time, null for never, or not given.
type expiry struct {
	given bool
	at    *time.Time
}

func (e *expiry) UnmarshalJSON(b []byte) error {
	e.given = true
	return json.Unmarshal(b, &e.at)
}

// modify gives a filter another name, or another end.
func (c *call) modify() error {
	if _, err := bodyType(c.request, mediaMerge, mediaJSON); err != nil {
		return err
	}
	var want struct {
		other
		Replace bool   `json:"replace"`
		Expires expiry `json:"expires"`
	}
	if err := c.readJSON(&want); err != nil {
		return err
	}
	f, err := c.filter()
	if err != nil {
		return err
	}
	to, err := want.name()
	if err != nil {
		return err
	}
	rename := to != "" && to != c.name
	if rename { // under the new name it may be for others to read
		if err := c.may(access.Read, c.name); err != nil {
			return err
		}
		if err := c.mayMake(to, want.Replace); err != nil {
			return err
		}
	}
	var pos engine.Position
	if want.Expires.given {
		if pos, err = f.Expire(millis(want.Expires.at)); err != nil {
			return err
		}
	}
	if rename {
		at, err := c.Engine.Rename([]byte(c.name), []byte(to))
		if err != nil {
			return err
		}
		pos = max(pos, at)
	}
	return c.made(f, pos, false)
}

// mayMake returns an error unless the user may make a filter of that name, in the place of
// one that may be there if replace is true.
func (c *call) mayMake(name string, replace bool) error {
	if err := c.may(access.Add, name); err != nil {
		return err
	}
	if c.Engine.Get([]byte(name)) == nil {
		return nil
	}
	if !replace {
		return fmt.Errorf("%q: %w", name, engine.ErrExists)
	}
	return c.may(access.Remove, name)
}

func (c *call) delete() error {
	found, pos, err := c.Engine.Delete([]byte(c.name))
	if err != nil {
		return err
	}
	if !found {
		_, err := c.filter()
		return err
	}
	if err := c.kept(pos); err != nil {
		return err
	}
	c.WriteHeader(http.StatusNoContent)
	return nil
}

// copy makes a second filter as this one is now.
func (c *call) copy() error {
	var want struct {
		other
		Replace bool `json:"replace"`
	}
	if err := c.readJSON(&want); err != nil {
		return err
	}
	to, err := want.required()
	if err != nil {
		return err
	}
	if _, err := c.whole(c.name); err != nil {
		return err
	}
	if err := c.mayMake(to, want.Replace); err != nil {
		return err
	}
	pos, err := c.Engine.Copy([]byte(c.name), []byte(to), want.Replace)
	if err != nil {
		return err
	}
	f, err := c.find(to)
	if err != nil {
		return err
	}
	return c.made(f, pos, true)
}

// changed answers after a filter was changed by f.
func (c *call) changed(change func(*engine.Filter) (engine.Position, error)) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	pos, err := change(f)
	if err != nil {
		return err
	}
	return c.made(f, pos, false)
}

// clear forgets all keys and keeps the filter.
func (c *call) clear() error { return c.changed((*engine.Filter).Clear) }

// seal turns what was added into the form that is asked fast.
func (c *call) seal() error { return c.changed((*engine.Filter).Seal) }

func (c *call) fold() error   { return c.resize((*engine.Filter).Fold) }
func (c *call) unfold() error { return c.resize((*engine.Filter).Unfold) }

// resize makes a filter smaller or larger by a factor.
func (c *call) resize(by func(*engine.Filter, uint64) (engine.Position, error)) error {
	var want struct {
		Factor whole `json:"factor"`
	}
	if err := c.readJSON(&want); err != nil {
		return err
	}
	if want.Factor == 0 {
		return problemf(badRequest, `give the factor, as in {"factor": 2}`)
	}
	return c.changed(func(f *engine.Filter) (engine.Position, error) { return by(f, uint64(want.Factor)) })
}

// advance tells a filter the time, and it forgets what is old.
func (c *call) advance() error {
	var want struct {
		To *whole `json:"to"`
	}
	if err := c.readJSON(&want); err != nil {
		return err
	}
	if want.To == nil {
		return problemf(badRequest, `give the time, as in {"to": 5}`)
	}
	return c.changed(func(f *engine.Filter) (engine.Position, error) { return f.Advance(uint64(*want.To)) })
}

// defaultRate is up to which parts are joined where no rate is given.
const defaultRate = 0.01

// compact joins the parts of a filter as far as its rate stays at the one given.
func (c *call) compact() error {
	want := struct {
		FPRate float64 `json:"fpRate"`
	}{defaultRate}
	if err := c.readJSON(&want); err != nil {
		return err
	}
	return c.changed(func(f *engine.Filter) (engine.Position, error) {
		return f.Update(func(f umbel.Filter) (umbel.Filter, error) {
			j, ok := f.(ability.Compacter)
			if !ok {
				return nil, cannot(f, "isn't made of parts that join")
			}
			return f, j.Compact(want.FPRate)
		})
	})
}
