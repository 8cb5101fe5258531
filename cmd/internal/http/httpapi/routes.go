package httpapi

import "github.com/umbel-filters/umbel/cmd/internal/node/access"

// route is one method of one path.
type route struct {
	pattern string
	// right is what the user needs for the filter in the path, or for the server. 0 means that
	// authentication is enough. Handlers check further rights themselves.
	right access.Right
	open  bool // needs no authentication
	// published: right is not needed if the publication in the path is public.
	published bool
	list      bool // a slash at the end of the path makes no difference
	serve     func(*request) error
}

// routes are all routes; openapi.json describes the same ones.
func (h *handler) routes() []route {
	rs := []route{
		{pattern: "GET /{$}", serve: (*request).index},
		{pattern: "GET /healthz", open: true, serve: (*request).alive},
		{pattern: "GET /readyz", open: true, serve: (*request).ready},
		{pattern: "GET /writable", open: true, serve: (*request).writable},
		{pattern: "GET /openapi.json", open: true, serve: (*request).openAPI},
		{pattern: "GET /metrics", right: access.Read, serve: (*request).serveMetrics},

		{pattern: "GET /v1/kinds", list: true, serve: (*request).kinds},
		{pattern: "POST /v1/plan", serve: (*request).plan},
		{pattern: "GET /v1/status", right: access.Read, serve: (*request).nodeStatus},
		{pattern: "GET /v1/backup", right: access.Admin, serve: (*request).serveBackup},
		{pattern: "POST /v1/snapshot", right: access.Admin, serve: (*request).takeSnapshot},
		{pattern: "POST /v1/group/take-over", right: access.Admin, serve: func(req *request) error { return req.group(req.TakeOver) }},
		{pattern: "POST /v1/group/leave", right: access.Admin, serve: func(req *request) error { return req.group(req.Leave) }},
		{pattern: "POST /v1/acknowledge", right: access.Admin, serve: (*request).acknowledge},

		{pattern: "GET /v1/slots", serve: (*request).slotMap},
		{pattern: "PUT /v1/slots", right: access.Admin, serve: (*request).installSlotMap},

		{pattern: "GET /v1/filters", list: true, serve: (*request).list},
		{pattern: "GET /v1/filters/{name}", right: access.Read, serve: (*request).getFilter},
		{pattern: "PUT /v1/filters/{name}", right: access.Add, serve: (*request).putFilter},
		{pattern: "PATCH /v1/filters/{name}", right: access.Remove, serve: (*request).modify},
		{pattern: "DELETE /v1/filters/{name}", right: access.Remove, serve: (*request).deleteFilter},

		{pattern: "POST /v1/filters/{name}/add", right: access.Add, serve: addKeys.serve},
		{pattern: "POST /v1/filters/{name}/has", right: access.Read, serve: hasKeys.serve},
		{pattern: "POST /v1/filters/{name}/remove", right: access.Remove, serve: removeKeys.serve},
		{pattern: "POST /v1/filters/{name}/count", right: access.Read, serve: countKeys.serve},

		{pattern: "POST /v1/filters/{name}/copy", right: access.Read, serve: (*request).copyFilter},
		{pattern: "POST /v1/filters/{name}/merge", right: access.Add, serve: (*request).merge},
		{pattern: "POST /v1/filters/{name}/intersect", right: access.Read, serve: (*request).intersect},
		{pattern: "POST /v1/filters/{name}/diff", right: access.Read, serve: (*request).diff},
		{pattern: "POST /v1/filters/{name}/patch", right: access.Add | access.Remove, serve: (*request).patch},
	}
	rs = append(rs, operationRoutes()...)
	rs = append(rs, publicationRoutes()...)
	rs = append(rs, subscriptionRoutes()...)
	if h.Profile {
		rs = append(rs, profiles()...)
	}
	return rs
}
