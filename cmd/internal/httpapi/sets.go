package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/overlap"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

// second returns the state of the other filter of a request that concerns two: one that
// its JSON names, or the container that it is. It shares no memory with a filter.
func (c *call) second() (umbel.State, error) {
	media, err := bodyType(c.request, mediaJSON, mediaContainer)
	if err != nil {
		return umbel.State{}, err
	}
	if media == mediaContainer {
		f, err := c.readContainer()
		if err != nil {
			return umbel.State{}, err
		}
		return f.State(), nil
	}
	var want other
	if err := c.readJSON(&want); err != nil {
		return umbel.State{}, err
	}
	name, err := want.required()
	if err != nil {
		return umbel.State{}, err
	}
	f, err := c.whole(name)
	if err != nil {
		return umbel.State{}, err
	}
	return c.stateOf(f)
}

// stateOf returns a copy of a filter's state.
func (c *call) stateOf(f *engine.Filter) (s umbel.State, err error) {
	if err := c.hold.Take(f.Bytes()); err != nil {
		return s, fmt.Errorf("a copy of %q: %w", f.Name(), err)
	}
	err = f.View(func(f umbel.Filter) { s = f.State().Clone() })
	return s, err
}

// merge adds the keys of another filter.
func (c *call) merge() error {
	return c.changed(func(f *engine.Filter) (engine.Position, error) {
		from, err := c.second()
		if err != nil {
			return 0, err
		}
		return f.Merge(from)
	})
}

// estimate is a number of keys.
type estimate struct {
	Keys float `json:"keys"`
	Low  float `json:"low"`
	High float `json:"high"`
}

func estimateOf(e plan.Estimate) estimate {
	return estimate{float(e.Value), float(e.Low), float(e.High)}
}

// intersect tells how many keys the filter shares with another.
func (c *call) intersect() error {
	f, err := c.whole(c.name)
	if err != nil {
		return err
	}
	with, err := c.second()
	if err != nil {
		return err
	}
	own, err := c.stateOf(f)
	if err != nil {
		return err
	}
	kinds := c.Engine.Kinds()
	var fs [2]umbel.Filter
	for i, s := range []umbel.State{own, with} {
		f, err := kinds.Open(s)
		if err != nil {
			return err
		}
		if fs[i], err = overlap.Bits(f); err != nil {
			return err
		}
	}
	o, err := overlap.Of(kinds, fs[0], fs[1])
	if err != nil {
		return err
	}
	return writeJSON(c.answer, http.StatusOK, struct {
		A     estimate `json:"a"`
		B     estimate `json:"b"`
		Union estimate `json:"union"`
		Both  estimate `json:"both"`
		Cells uint64   `json:"cells"`
	}{estimateOf(o.A), estimateOf(o.B), estimateOf(o.Union), estimateOf(o.Both), o.Cells})
}

// diff answers with the delta that makes this filter of the one in the container that
// came.
func (c *call) diff() error {
	if _, err := bodyType(c.request, mediaContainer); err != nil {
		return err
	}
	f, err := c.whole(c.name)
	if err != nil {
		return err
	}
	if err := c.maySee(f.Hasher(), c.name); err != nil {
		return err
	}
	base, err := c.readContainer()
	if err != nil {
		return err
	}
	now, err := c.stateOf(f)
	if err != nil {
		return err
	}
	delta, err := wire.Delta(nil, base.State(), now)
	if err != nil {
		return err
	}
	h := c.Header()
	h.Set("Content-Type", mediaDelta)
	h.Set("Cache-Control", "no-store")
	if info, err := wire.InspectDelta(delta); err == nil {
		h.Set("Etag", etagOf(info.Result, "")) // of what the client then has
	}
	c.WriteHeader(http.StatusOK)
	_, err = c.Write(delta)
	return err
}

// readDelta reads a body that is a delta, which is no longer than the container of what it
// leads to. It is held as it comes.
func (c *call) readDelta() ([]byte, error) {
	const head = 64 << 10
	var b bytes.Buffer
	in := c.streamed()
	for {
		if err := c.hold.Take(readBytes); err != nil {
			return nil, err
		}
		_, err := io.CopyN(&b, in, readBytes)
		if uint64(b.Len()) >= c.MaxBytes+head {
			return nil, problemf(tooLarge, "the delta is longer than the %d bytes that a filter may have", c.MaxBytes)
		}
		if err == io.EOF {
			_, err = wire.InspectDelta(b.Bytes())
			return b.Bytes(), err
		}
		if err != nil {
			return nil, unread(err)
		}
	}
}

// patch makes of the filter what a delta says.
func (c *call) patch() error {
	if _, err := bodyType(c.request, mediaDelta); err != nil {
		return err
	}
	f, err := c.filter()
	if err != nil {
		return err
	}
	if err := complete(f); err != nil {
		return err
	}
	delta, err := c.readDelta()
	if err != nil {
		return err
	}
	pos, err := f.Update(func(f umbel.Filter) (umbel.Filter, error) {
		s, err := wire.Apply(f.State(), delta, c.limits())
		if err != nil {
			return nil, err
		}
		return c.Engine.Kinds().Open(s) // a delta leads to the same kind and hasher
	})
	if err != nil {
		return err
	}
	return c.made(f, pos, false)
}
