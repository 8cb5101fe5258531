package httpapi

import (
	_ "embed"
	"fmt"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

//go:embed openapi.json
var openAPIDocument []byte

func (req *request) openAPI() error {
	req.Header().Set("Content-Type", api.MediaJSON)
	req.Header().Set("Cache-Control", "no-cache")
	_, err := req.Write(openAPIDocument)
	return err
}

// alive responds as long as the process runs.
func (req *request) alive() error { return writeJSON(req.response, http.StatusOK, status{"alive"}) }

type status struct {
	Status string `json:"status"`
}

// ready reports whether filters can be queried.
func (req *request) ready() error {
	if err := req.checkReady(); err != nil {
		return err
	}
	return writeJSON(req.response, http.StatusOK, status{"ready"})
}

// writable reports whether filters can be changed too. The problem is not-ready if they cannot be
// queried either, replica if the server is one, otherwise read-only.
func (req *request) writable() error {
	if req.Subscriptions != nil {
		return engine.ErrReplica
	}
	err := req.checkReady()
	if err == nil && req.Writable != nil {
		err = asProblem(readOnly, req.Writable())
	}
	if err != nil {
		return err
	}
	return writeJSON(req.response, http.StatusOK, status{"writable"})
}

// checkReady returns an error if the node does not answer queries.
func (req *request) checkReady() error {
	if req.Ready == nil {
		return nil
	}
	return asProblem(notReady, req.Ready())
}

// nodeStatus responds with the state of the node.
func (req *request) nodeStatus() error {
	if req.Status == nil {
		return problemf(absent, "the server has no status")
	}
	return writeJSON(req.response, http.StatusOK, req.Status())
}

func (req *request) serveMetrics() error {
	if req.Metrics == nil {
		return problemf(absent, "metrics are not enabled")
	}
	req.Metrics.ServeHTTP(req.response, req.http)
	return nil
}

func (req *request) serveBackup() error {
	if req.Backup == nil {
		return problemf(absent, "the server has no storage to back up")
	}
	h := req.Header()
	h.Set("Content-Type", api.MediaBackup)
	h.Set("Content-Disposition", `attachment; filename="umbel-`+time.Now().UTC().Format("20060102T150405Z")+`.backup"`)
	h.Set("Cache-Control", "no-store")
	return req.Backup(req.http.Context(), req.response)
}

func (req *request) takeSnapshot() error {
	if req.Snapshot == nil {
		return problemf(absent, "the server has no storage")
	}
	if err := req.Snapshot(req.http.Context()); err != nil {
		return loggedError{err}
	}
	req.WriteHeader(http.StatusNoContent)
	return nil
}

// toLeader makes a response send the client to the leader of the group. If that is unknown, it returns err as a problem that will pass.
func (req *request) toLeader(w http.ResponseWriter, err error) error {
	url := ""
	if req.Leader != nil {
		url = req.Leader()
	}
	if url == "" {
		return asProblem(readOnly, err)
	}
	w.Header().Set("Location", url+req.http.URL.RequestURI())
	return fmt.Errorf("%w (%s)", err, url)
}

// group makes the node lead its group, or follow. The response does not wait for that.
func (req *request) group(do func() error) error {
	if do == nil {
		return problemf(absent, "the server is in no group; umbel serve --log makes it a member of one")
	}
	if err := do(); err != nil {
		return asProblem(roleConflict, err)
	}
	req.WriteHeader(http.StatusNoContent)
	return nil
}

// acknowledge ends the state in which names may be missing, and responds whether there was one.
func (req *request) acknowledge() error {
	done, pos, err := req.Engine.Acknowledge()
	if err == nil {
		err = req.waitDurable(pos)
	}
	if err != nil {
		return err
	}
	return writeJSON(req.response, http.StatusOK, api.Acknowledged{Acknowledged: done})
}

// kindInfo describes a kind.
type kindInfo struct {
	Kind   string        `json:"kind"`
	Doc    string        `json:"doc"`
	Can    []abilityInfo `json:"can"`
	Params []paramInfo   `json:"params"`
}

type abilityInfo struct {
	Word  string `json:"word"`
	Param string `json:"param,omitempty"` // the parameter that enables it, if any
}

type paramInfo struct {
	Name string  `json:"name"`
	Doc  string  `json:"doc"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

func (req *request) kinds() error {
	kinds := []kindInfo{}
	for _, v := range req.Engine.Kinds() {
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
	return writeJSON(req.response, http.StatusOK, struct {
		Kinds []kindInfo `json:"kinds"`
	}{kinds})
}

// plan responds with forecasts for one kind, or for all, and makes no filter.
func (req *request) plan() error {
	if _, err := bodyType(req.http, api.MediaJSON); err != nil {
		return err
	}
	var want api.FilterSpec
	if err := req.readJSON(&want); err != nil {
		return err
	}
	plans := []api.Forecast{}
	for _, v := range req.Engine.Kinds() {
		if want.Kind != "" && v.Name != want.Kind {
			continue
		}
		p, err := req.planOf(v, want)
		if err != nil {
			if want.Kind != "" {
				return err
			}
			problem := problemOf(err)
			p.Problem = &problem
		}
		plans = append(plans, p)
	}
	if len(plans) == 0 {
		_, err := req.Engine.Kinds().Find(want.Kind)
		return err
	}
	return writeJSON(req.response, http.StatusOK, struct {
		Plans []api.Forecast `json:"plans"`
	}{plans})
}

func (req *request) planOf(v umbel.Kind, want api.FilterSpec) (api.Forecast, error) {
	p := api.Forecast{Kind: v.Name}
	if err := req.http.Context().Err(); err != nil { // the client has left
		return p, err
	}
	forecast, err := req.Engine.Forecast(func() (umbel.Forecast, error) {
		goal, params, err := req.resolve(v, want)
		if err != nil {
			return umbel.Forecast{}, err
		}
		return v.Plan(goal, params)
	})
	if err != nil {
		return p, err
	}
	return api.Forecast{
		Kind: v.Name, Keys: forecast.Keys, FPRate: api.Float(forecast.FPRate), Cells: forecast.Cells, Bytes: forecast.Bytes,
		K: api.Float(forecast.K), Fits: req.Engine.CheckMemory(forecast.Bytes) == nil,
	}, nil
}
