package httpapi

import (
	"net/http"
	"net/http/pprof"

	"github.com/umbel-filters/umbel/cmd/internal/access"
)

// route is what one method of one path does.
type route struct {
	pattern string
	// right is what the user needs: over the filter where the path names one, otherwise
	// over the node; 0 is nothing but to be known. Handlers check what else they need.
	right access.Right
	open  bool // for who isn't known, too
	serve func(*call) error
}

// routes are all there are: openapi.json has the same.
func (h *handler) routes() []route {
	rs := []route{
		{pattern: "GET /healthz", open: true, serve: (*call).alive},
		{pattern: "GET /readyz", open: true, serve: (*call).ready},
		{pattern: "GET /openapi.json", open: true, serve: (*call).openAPI},
		{pattern: "GET /metrics", right: access.Read, serve: (*call).metrics},

		{pattern: "GET /v1/kinds", serve: (*call).kinds},
		{pattern: "POST /v1/plan", serve: (*call).plan},
		{pattern: "GET /v1/backup", right: access.Admin, serve: (*call).backup},
		{pattern: "POST /v1/snapshot", right: access.Admin, serve: (*call).snapshot},

		{pattern: "GET /v1/filters", serve: (*call).list},
		{pattern: "GET /v1/filters/{name}", right: access.Read, serve: (*call).get},
		{pattern: "PUT /v1/filters/{name}", right: access.Add, serve: (*call).put},
		{pattern: "PATCH /v1/filters/{name}", right: access.Remove, serve: (*call).modify},
		{pattern: "DELETE /v1/filters/{name}", right: access.Remove, serve: (*call).delete},

		{pattern: "POST /v1/filters/{name}/add", right: access.Add, serve: addKeys.serve},
		{pattern: "POST /v1/filters/{name}/has", right: access.Read, serve: hasKeys.serve},
		{pattern: "POST /v1/filters/{name}/remove", right: access.Remove, serve: removeKeys.serve},
		{pattern: "POST /v1/filters/{name}/count", right: access.Read, serve: countKeys.serve},

		{pattern: "POST /v1/filters/{name}/clear", right: access.Remove, serve: (*call).clear},
		{pattern: "POST /v1/filters/{name}/fold", right: access.Remove, serve: (*call).fold},
		{pattern: "POST /v1/filters/{name}/unfold", right: access.Remove, serve: (*call).unfold},
		{pattern: "POST /v1/filters/{name}/advance", right: access.Remove, serve: (*call).advance},
		{pattern: "POST /v1/filters/{name}/seal", right: access.Add, serve: (*call).seal},
		{pattern: "POST /v1/filters/{name}/compact", right: access.Remove, serve: (*call).compact},

		{pattern: "POST /v1/filters/{name}/copy", right: access.Read, serve: (*call).copy},
		{pattern: "POST /v1/filters/{name}/merge", right: access.Add, serve: (*call).merge},
		{pattern: "POST /v1/filters/{name}/intersect", right: access.Read, serve: (*call).intersect},
		{pattern: "POST /v1/filters/{name}/diff", right: access.Read, serve: (*call).diff},
		{pattern: "POST /v1/filters/{name}/patch", right: access.Add | access.Remove, serve: (*call).patch},
	}
	if h.Profile {
		rs = append(rs, profiles()...)
	}
	return rs
}

// profiles are the routes of /debug/pprof.
func profiles() []route {
	var rs []route
	for path, f := range map[string]http.HandlerFunc{
		"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
	} {
		rs = append(rs, route{pattern: "GET /debug/pprof/" + path, right: access.Admin, serve: func(c *call) error {
			f(c.answer, c.request)
			return nil
		}})
	}
	return rs
}
