package metrics

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// requests counts HTTP requests by route and status. It is safe for concurrent use.
type requests struct {
	mu     sync.Mutex
	routes map[string]*route
}

// route counts the requests of one route.
type route struct {
	codes map[int]uint64
	took  durations
}

func (r *requests) add(pattern string, code int, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.routes[pattern]
	if one == nil {
		one = &route{codes: map[int]uint64{}}
		if r.routes == nil {
			r.routes = map[string]*route{}
		}
		r.routes[pattern] = one
	}
	one.codes[code]++
	one.took.add(took)
}

func (r *requests) metrics() (all []status.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pattern := range slices.Sorted(maps.Keys(r.routes)) {
		one := r.routes[pattern]
		for _, code := range slices.Sorted(maps.Keys(one.codes)) {
			all = append(all, status.Counter("umbel_http_requests_total", "HTTP requests answered.", one.codes[code],
				"route", pattern, "code", strconv.Itoa(code)))
		}
		all = append(all, status.Histogram("umbel_http_request_duration_seconds", "Duration of HTTP requests.", one.took.read(), "route", pattern))
	}
	return all
}
