package httpapi

import (
	"encoding/hex"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/filter/window"
)

// newBrief describes a filter at a time in milliseconds since 1970.
func newBrief(f *engine.Filter, now int64) api.Brief {
	name := f.Name()
	b := api.Brief{Path: api.FilterPath(name), Kind: f.Kind(), Bytes: f.Bytes(), Incomplete: f.Reason(), Planned: api.NewPlanned(f.Planned(), f.Overfull())}
	b.Name, b.NameBase64 = api.EncodeName(name)
	if at := f.Expires(); at != 0 {
		t := time.UnixMilli(at).UTC()
		b.Expires = &t
	}
	if b.Kind == window.Name {
		if s, err := f.Shape(); err == nil { // a deleted filter has none
			b.Window = windowOf(s, now)
		}
	}
	return b
}

// windowOf returns when the keys of a window expire, nil if they do not expire by time.
func windowOf(s umbel.State, now int64) *api.Window {
	ticks := s.Params.Uint("ticks")
	if ticks == 0 {
		return nil
	}
	w := &api.Window{Now: s.Params.Uint("now"), Ticks: ticks, Generations: s.Params.Uint("l"), TickNanos: int64(s.Tick)}
	if s.Tick != 0 {
		tick := float64(s.Tick) / 1e9
		ended := float64((w.Now/ticks+1)*ticks) * tick // of the generation of Now
		clock, time := float64(now)/1e3, float64(w.Now)*tick
		if clock >= ended+tolerance {
			w.BehindSeconds = math.Round(clock - time)
		}
		if time > clock+float64(ticks)*tick+tolerance {
			w.AheadSeconds = math.Round(time - clock)
		}
	}
	return w
}

// tolerance is the time in seconds after which a filter is behind the clock that should have been advanced: a node
// advances filters twice per second.
const tolerance = 2

func (req *request) newInfo(f *engine.Filter) (api.Info, error) {
	in := api.Info{Brief: newBrief(f, req.Engine.Now()), Params: map[string]api.Float{}, IdleMillis: f.Idle(), Counts: api.Counts(f.Counts())}
	shape, err := f.Shape()
	if err == nil {
		err = f.View(func(f umbel.Filter) { in.Can = ability.In(f) })
	}
	if err != nil {
		return in, err
	}
	for _, p := range shape.Params {
		in.Params[p.Name] = api.Float(p.Value.Float())
	}
	in.Parts = len(shape.Parts)
	h := f.Hasher()
	in.Hash, in.SecretSeed = h.Alg.String(), h.Secret()
	if seed := h.Seed.Bytes(); h.Seed != (umbel.Seed{}) && (!in.SecretSeed || req.allowed(access.Admin, "")) {
		in.Seed = hex.EncodeToString(seed[:])
	}
	s, err := f.Described()
	if err != nil {
		return in, err
	}
	in.Cells, in.K, in.Fill, in.FPRate = s.Cells, api.Float(s.K), api.Float(s.Fill), api.Float(s.FPRate)
	in.Keys = api.Estimate{Estimate: api.Float(s.Keys), Low: api.Float(s.Low), High: api.Float(s.High)}
	in.Planned = api.NewPlanned(f.Planned(), f.Overfull()) // as measured now
	return in, nil
}

// getFilter responds with the description of a filter or with its container.
func (req *request) getFilter() error {
	f, err := req.filter()
	if err != nil {
		return err
	}
	req.Header().Add("Vary", "Accept")
	media, form, err := negotiate(req.http, api.MediaJSON, api.MediaContainer)
	if err != nil {
		return err
	}
	if media == api.MediaContainer {
		return req.sendContainer(f, form)
	}
	in, err := req.newInfo(f)
	if err != nil {
		return err
	}
	return writeJSON(req.response, http.StatusOK, in)
}

// Limits of a list: filters per response, and filters examined per request.
const (
	defaultPage = 100
	maxPage     = 10_000
	maxExamined = 100_000
)

// list responds with filters that the user may read. Their order has no meaning.
func (req *request) list() error {
	q := req.http.URL.Query()
	cursor, err := queryNumber(q, "cursor", 0, 1<<64-1)
	if err != nil {
		return err
	}
	limit, err := queryNumber(q, "limit", defaultPage, maxPage)
	if err != nil {
		return err
	}
	prefix := q.Get("prefix")
	p := api.Page{Filters: []api.Brief{}}
	next := req.Engine.List(cursor, maxExamined, func(f *engine.Filter) bool {
		if name := f.Name(); strings.HasPrefix(name, prefix) && req.allowed(access.Read, name) {
			p.Filters = append(p.Filters, newBrief(f, req.Engine.Now()))
		}
		return uint64(len(p.Filters)) < limit
	})
	if next != 0 {
		p.Cursor = strconv.FormatUint(next, 10)
		q.Set("cursor", p.Cursor)
		req.Header().Set("Link", "</v1/filters?"+q.Encode()+`>; rel="next"`)
	}
	return writeJSON(req.response, http.StatusOK, p)
}

// queryNumber returns a whole number of a query string, or fallback if it is absent. The number is at
// most limit, and at least 1 unless fallback is 0.
func queryNumber(q url.Values, name string, fallback, limit uint64) (uint64, error) {
	if !q.Has(name) {
		return fallback, nil
	}
	n, err := strconv.ParseUint(q.Get(name), 10, 64)
	if err != nil || n > limit || n == 0 && fallback > 0 {
		return 0, problemf(badRequest, "%s is %q, want a whole number of at most %d", name, q.Get(name), limit)
	}
	return n, nil
}
