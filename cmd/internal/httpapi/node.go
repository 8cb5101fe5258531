package httpapi

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
)

//go:embed openapi.json
var document []byte

func (c *call) openAPI() error {
	c.Header().Set("Content-Type", mediaJSON)
	c.Header().Set("Cache-Control", "no-cache")
	_, err := c.Write(document)
	return err
}

// alive says that the process runs, whatever state it is in.
func (c *call) alive() error { return writeJSON(c.answer, http.StatusOK, status{"alive"}) }

type status struct {
	Status string `json:"status"`
}

// ready says whether filters may be asked and changed.
func (c *call) ready() error {
	if c.Ready != nil {
		if err := c.Ready(); err != nil {
			return asFault(notReady, err)
		}
	}
	return writeJSON(c.answer, http.StatusOK, status{"ready"})
}

func (c *call) metrics() error {
	if c.Metrics == nil {
		return problemf(absent, "no metrics are kept")
	}
	c.Metrics.ServeHTTP(c.answer, c.request)
	return nil
}

func (c *call) backup() error {
	if c.Backup == nil {
		return problemf(absent, "nothing is kept that could be backed up")
	}
	h := c.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="umbel-`+time.Now().UTC().Format("20060102T150405Z")+`.backup"`)
	h.Set("Cache-Control", "no-store")
	return c.Backup(c.request.Context(), c.answer)
}

func (c *call) snapshot() error {
	if c.Snapshot == nil {
		return problemf(absent, "nothing is kept")
	}
	if err := c.Snapshot(c.request.Context()); err != nil {
		return err
	}
	c.WriteHeader(http.StatusNoContent)
	return nil
}

// kindInfo is what is said of a kind.
type kindInfo struct {
	Kind   string      `json:"kind"`
	Doc    string      `json:"doc"`
	Can    []string    `json:"can"`
	Params []paramInfo `json:"params"`
}

type paramInfo struct {
	Name string  `json:"name"`
	Doc  string  `json:"doc"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

func (c *call) kinds() error {
	kinds := []kindInfo{}
	for _, v := range c.Engine.Variants() {
		k := kindInfo{Kind: v.Kind, Doc: v.Doc, Can: []string{}, Params: []paramInfo{}}
		if f, err := v.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil); err == nil {
			k.Can = abilitiesOf(f)
		}
		for _, p := range v.Params {
			k.Params = append(k.Params, paramInfo{p.Name, p.Doc, p.Min, p.Max})
		}
		kinds = append(kinds, k)
	}
	return writeJSON(c.answer, http.StatusOK, struct {
		Kinds []kindInfo `json:"kinds"`
	}{kinds})
}

// abilities are what only some kinds can do, in the words of paths.
var abilities = []struct {
	word string
	in   func(umbel.Filter) bool
}{
	{"remove", is[umbel.Remover]},
	{"count", is[umbel.Counter]},
	{"merge", is[umbel.Merger]},
	{"fold", is[umbel.Folder]},
	{"clear", is[umbel.Clearer]},
	{"grow", is[umbel.Grower]},
	{"advance", is[umbel.Advancer]},
	{"seal", is[umbel.Sealer]},
	{"compact", is[compacter]},
}

func is[T any](f umbel.Filter) bool {
	_, ok := f.(T)
	return ok
}

func abilitiesOf(f umbel.Filter) []string {
	can := []string{}
	for _, a := range abilities {
		if a.in(f) {
			can = append(can, a.word)
		}
	}
	return can
}

// planned is what a filter would be.
type planned struct {
	Kind    string   `json:"kind"`
	Keys    uint64   `json:"keys"`
	FPRate  float    `json:"fpRate"`
	Cells   uint64   `json:"cells"`
	Bytes   uint64   `json:"bytes"`
	K       float    `json:"k"`
	Fits    bool     `json:"fits"` // within the memory limit, now
	Problem *problem `json:"problem,omitempty"`
}

// plan tells what filters would cost, of one kind or of all, and makes none.
func (c *call) plan() error {
	if _, err := bodyType(c.request, mediaJSON); err != nil {
		return err
	}
	var want order
	if err := c.readJSON(&want); err != nil {
		return err
	}
	plans := []planned{}
	for _, v := range c.Engine.Variants() {
		if want.Kind != "" && v.Kind != want.Kind {
			continue
		}
		p, err := c.planOf(v, want)
		if err != nil {
			if want.Kind != "" {
				return err
			}
			said := problemOf(err)
			p.Problem = &said
		}
		plans = append(plans, p)
	}
	if len(plans) == 0 {
		_, err := c.Engine.Variants().Find(want.Kind)
		return err
	}
	return writeJSON(c.answer, http.StatusOK, struct {
		Plans []planned `json:"plans"`
	}{plans})
}

func (c *call) planOf(v umbel.Variant, want order) (planned, error) {
	p := planned{Kind: v.Kind}
	goal, params, err := want.goal(v, c.Hasher)
	if err != nil {
		return p, err
	}
	forecast, err := v.Plan(goal, params)
	if err != nil {
		return p, err
	}
	return planned{
		Kind: v.Kind, Keys: forecast.Keys, FPRate: float(forecast.FPRate), Cells: forecast.Cells, Bytes: forecast.Bytes,
		K: float(forecast.K), Fits: c.Engine.Room(forecast.Bytes) == nil,
	}, nil
}
