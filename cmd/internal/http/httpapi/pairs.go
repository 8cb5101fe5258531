package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// otherState returns the state of the second filter of a request: one that its JSON names, or the
// container in its body. The state shares no memory with a filter.
func (req *request) otherState() (umbel.State, error) {
	media, err := bodyType(req.http, api.MediaJSON, api.MediaContainer)
	if err != nil {
		return umbel.State{}, err
	}
	if media == api.MediaContainer {
		f, err := req.readContainer()
		if err != nil {
			return umbel.State{}, err
		}
		return f.State(), nil
	}
	var want api.FilterName
	if err := req.readJSON(&want); err != nil {
		return umbel.State{}, err
	}
	name, err := requiredName(want)
	if err != nil {
		return umbel.State{}, err
	}
	f, err := req.completeFilter(name)
	if err != nil {
		return umbel.State{}, err
	}
	return req.stateOf(f)
}

// stateOf returns a copy of a filter's state.
func (req *request) stateOf(f *engine.Filter) (s umbel.State, err error) {
	if s, err = f.CopyState(req.hold); err != nil {
		return s, fmt.Errorf("copy of %q: %w", f.Name(), err)
	}
	return s, nil
}

// merge adds the keys of another filter.
func (req *request) merge() error {
	return req.changeFilter(func(f *engine.Filter) (engine.Position, error) {
		from, err := req.otherState()
		if err != nil {
			return 0, err
		}
		return f.Merge(from)
	})
}

func estimateOf(e plan.Estimate) api.Estimate {
	return api.Estimate{Estimate: api.Float(e.Value), Low: api.Float(e.Low), High: api.Float(e.High)}
}

// intersect estimates how many keys the filter shares with another.
func (req *request) intersect() error {
	f, err := req.completeFilter(req.name)
	if err != nil {
		return err
	}
	o, err := req.overlapOf(f)
	if err != nil {
		return err
	}
	return writeJSON(req.response, http.StatusOK, api.Overlap{
		A: estimateOf(o.A), B: estimateOf(o.B), Union: estimateOf(o.Union), Both: estimateOf(o.Both),
		OnlyA: estimateOf(o.OnlyA), OnlyB: estimateOf(o.OnlyB), Cells: o.Cells,
	})
}

// overlapOf compares a copy of the filter with the other filter of the request.
func (req *request) overlapOf(f *engine.Filter) (o compare.Overlap, err error) {
	with, err := req.otherState()
	if err != nil {
		return o, err
	}
	own, err := req.stateOf(f)
	if err != nil {
		return o, err
	}
	if err := req.hold.Take(own.Bytes() + 2*with.Bytes()); err != nil { // see compare.Of
		return o, err
	}
	defer f.CatchFault(&err)
	kinds := req.Engine.Kinds()
	var fs [2]umbel.Filter
	for i, s := range []umbel.State{own, with} {
		if fs[i], err = kinds.Open(s); err != nil {
			return o, err
		}
	}
	return compare.Of(kinds, fs[0], fs[1])
}

// diff responds with the delta from the container in the body to this filter.
func (req *request) diff() error {
	if _, err := bodyType(req.http, api.MediaContainer); err != nil {
		return err
	}
	f, err := req.completeFilter(req.name)
	if err != nil {
		return err
	}
	if err := req.requireSeedAccess(f.Hasher(), req.name); err != nil {
		return err
	}
	base, err := req.readContainer()
	if err != nil {
		return err
	}
	message, id, err := req.deltaTo(f, base)
	if err != nil {
		return err
	}
	h := req.Header()
	h.Set("Content-Type", api.MediaDelta)
	h.Set("Cache-Control", "no-store")
	h.Set("Etag", etagOf(id, "")) // of the client's filter after the delta
	req.WriteHeader(http.StatusOK)
	_, err = req.Write(message)
	return err
}

// deltaTo returns the delta from a filter to f, and the ID of f.
func (req *request) deltaTo(f *engine.Filter, base umbel.Filter) (message []byte, id wire.ID, err error) {
	now, err := req.stateOf(f)
	if err != nil {
		return nil, id, err
	}
	defer f.CatchFault(&err)
	id = hashtree.Identify(now)
	message, err = delta.Encoder{Result: id}.Append(nil, base.State(), now)
	return message, id, err
}

// readDelta reads a delta, which may be at most as long as a container. It reserves memory as it
// reads.
func (req *request) readDelta() ([]byte, error) {
	const head = 64 << 10
	var b bytes.Buffer
	in := req.streamedBody()
	for {
		if err := req.hold.Take(readBytes); err != nil {
			return nil, err
		}
		_, err := io.CopyN(&b, in, readBytes)
		if uint64(b.Len()) >= req.maxBytes()+head {
			return nil, problemf(tooLarge, "the delta is longer than %d bytes, the limit for a filter", req.maxBytes())
		}
		if err == io.EOF {
			_, err = delta.Inspect(b.Bytes())
			return b.Bytes(), err
		}
		if err != nil {
			return nil, bodyError(err)
		}
	}
}

// patch applies a delta to the filter.
func (req *request) patch() error {
	if _, err := bodyType(req.http, api.MediaDelta); err != nil {
		return err
	}
	f, err := req.filter()
	if err != nil {
		return err
	}
	if err := checkComplete(f); err != nil {
		return err
	}
	message, err := req.readDelta()
	if err != nil {
		return err
	}
	pos, err := f.Patch(message, req.hold.Limits())
	if err != nil {
		return err
	}
	return req.respondInfo(f, pos, false)
}
