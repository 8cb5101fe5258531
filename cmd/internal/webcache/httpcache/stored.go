package httpcache

import (
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// stored is a stored response. It does not change; a validation replaces it.
type stored struct {
	key        string
	status     int
	header     http.Header // as it is sent, without Age and Cache-Status of this cache
	names      []string    // of the fields that Vary lists
	selected   http.Header // these fields, as the request had them
	variant    string      // what they select
	authorized bool        // a request with Authorization was answered with it or with a part of its fields
	policy     policy
	body       body

	moment atomic.Pointer[moment]
}

// newStored returns a stored response without a body. The fields of the request are those for which the response was
// received. The header is prepared for sending: h is changed.
func newStored(key string, request http.Header, authorized bool, status int, h http.Header, p policy) *stored {
	names := varyNames(h["Vary"])
	delete(h, "Age")
	return &stored{
		key: key, status: status, header: h, names: names, selected: selectedBy(names, request), variant: variantOf(names, request),
		authorized: authorized, policy: p,
	}
}

// withBody returns the response with a body. The length counts for conditions and clients.
func (s *stored) withBody(b body) *stored {
	h := s.header
	if hasBody(s.status) {
		h = h.Clone()
		h["Content-Length"] = []string{strconv.FormatInt(b.size(), 10)}
	}
	return &stored{
		key: s.key, status: s.status, header: h, names: s.names, selected: s.selected, variant: s.variant,
		authorized: s.authorized, policy: s.policy, body: b,
	}
}

// knows reports whether the fields with these names are known of the request for which the response was received.
func (s *stored) knows(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(s.names, name) })
}

// hasBody reports whether responses with a status may have a body.
func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// matches reports whether a request selects the response.
func (s *stored) matches(request http.Header) bool {
	return len(s.names) == 0 || variantOf(s.names, request) == s.variant
}

// weight is the number of bytes that the response occupies in memory, without its body.
func (s *stored) weight() int64 {
	n := len(s.key) + len(s.variant) + overhead
	for _, h := range []http.Header{s.header, s.selected} {
		for name, values := range h {
			n += len(name)
			for _, value := range values {
				n += len(value) + 16
			}
		}
	}
	return int64(n)
}

// overhead is about the memory of a stored response beyond its texts: the structs, the map of its header and the
// entry of the index.
const overhead = 1024

// moment has the fields that are equal for all answers within one second.
type moment struct {
	second int64 // of the age
	age    []string
	hit    []string // Cache-Status
}

// at returns the fields for an age. It allocates once per second and response.
func (s *stored) at(age time.Duration, name string) *moment {
	second := int64(age / time.Second)
	if m := s.moment.Load(); m != nil && m.second == second {
		return m
	}
	left := int64(s.policy.lifetime/time.Second) - second
	m := &moment{
		second: second,
		age:    []string{strconv.FormatInt(second, 10)},
		hit:    append(slices.Clone(s.header["Cache-Status"]), name+"; hit; ttl="+strconv.FormatInt(left, 10)),
	}
	s.moment.Store(m)
	return m
}
