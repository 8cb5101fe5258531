package client

import (
	"strings"

	"github.com/umbel-filters/umbel/research/cachetests/internal/origin"
	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
)

// conditions are the fields by which a cache validates a response.
var conditions = map[string]string{
	suite.ETagValidated: "If-None-Match",
	suite.LMValidated:   "If-Modified-Since",
}

// checkOrigin compares the requests that the origin received with what the test expects, and the fields that it
// sent with those that the client received. Requests whose responses come from the cache reach no origin.
func checkOrigin(requests []suite.Request, received []*Response, seen []origin.Seen) error {
	next := 0
	for i := range requests {
		r := &requests[i]
		if r.ExpectedType == suite.Cached {
			continue
		}
		var s *origin.Seen
		if next < len(seen) {
			s = &seen[next]
		}
		next++
		if err := checkSeen(r, i+1, s); err != nil {
			return err
		}
		if s == nil {
			continue
		}
		for _, sent := range s.Sent {
			if strings.EqualFold(sent.Name, "Date") {
				continue // a proxy may replace it
			}
			if value, ok := received[i].get(sent.Name); !ok || value != sent.Value {
				return failed(always, "response %d has header %s: %s, want %q as the origin sent it",
					i+1, sent.Name, quote(value, ok), sent.Value)
			}
		}
		if r.ExpectedMethod != "" && s.Method != r.ExpectedMethod {
			return failed(r.IsSetup("expected_method"), "request %d reached the origin with method %s, want %s",
				i+1, s.Method, r.ExpectedMethod)
		}
	}
	return nil
}

// checkSeen compares what the origin received, nil for nothing, with what request n expects.
func checkSeen(r *suite.Request, n int, s *origin.Seen) error {
	condition := conditions[r.ExpectedType]
	if s == nil {
		if r.ExpectedType == "" && r.ExpectedRequestFields == nil && r.ExpectedMethod == "" {
			return nil
		}
		return failed(r.IsSetup("expected_type"), "request %d did not reach the origin", n)
	}
	if r.ExpectedType == suite.NotCached && s.Number != n {
		return failed(r.IsSetup("expected_type"), "request %d did not reach the origin; response %d is from the cache", n, n)
	}
	if condition != "" && s.Header.Get(condition) == "" {
		return failed(r.IsSetup("expected_type"), "request %d reached the origin without header %s", n, condition)
	}
	for _, f := range r.ExpectedRequestFields {
		value, present := origin.Joined(s.Header, f.Name), len(s.Header.Values(f.Name)) > 0
		if !present || !f.Any && value != f.Value {
			return failed(r.IsSetup("expected_request_headers"), "request %d reached the origin with header %s: %s, want %q",
				n, f.Name, quote(value, present), f.Value)
		}
	}
	for _, f := range r.ExpectedRequestMissing {
		value, present := origin.Joined(s.Header, f.Name), len(s.Header.Values(f.Name)) > 0
		if present && (f.Any || value == f.Value) {
			return failed(r.IsSetup("expected_request_headers_missing"), "request %d reached the origin with header %s: %q",
				n, f.Name, value)
		}
	}
	return nil
}
