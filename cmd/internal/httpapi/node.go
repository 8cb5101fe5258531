package httpapi

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
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
	Kind   string        `json:"kind"`
	Doc    string        `json:"doc"`
	Can    []abilityInfo `json:"can"`
	Params []paramInfo   `json:"params"`
}

type abilityInfo struct {
	Word  string `json:"word"`
	Param string `json:"param,omitempty"` // with which alone the kind can
}

type paramInfo struct {
	Name string  `json:"name"`
	Doc  string  `json:"doc"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

func (c *call) kinds() error {
	kinds := []kindInfo{}
	for _, v := range c.Engine.Kinds() {
		k := kindInfo{Kind: v.Name, Doc: v.Doc, Can: []abilityInfo{}, Params: []paramInfo{}}
		can, err := ability.Of(v)
		if err != nil {
			return err
		}
		for _, a := range can {
			k.Can = append(k.Can, abilityInfo(a))
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
	for _, v := range c.Engine.Kinds() {
		if want.Kind != "" && v.Name != want.Kind {
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
		_, err := c.Engine.Kinds().Find(want.Kind)
		return err
	}
	return writeJSON(c.answer, http.StatusOK, struct {
		Plans []planned `json:"plans"`
	}{plans})
}

func (c *call) planOf(v umbel.Kind, want order) (planned, error) {
	p := planned{Kind: v.Name}
	goal, params, err := want.goal(v, c.Hasher)
	if err != nil {
		return p, err
	}
	forecast, err := v.Plan(goal, params)
	if err != nil {
		return p, err
	}
	return planned{
		Kind: v.Name, Keys: forecast.Keys, FPRate: float(forecast.FPRate), Cells: forecast.Cells, Bytes: forecast.Bytes,
		K: float(forecast.K), Fits: c.Engine.Room(forecast.Bytes) == nil,
	}, nil
}
