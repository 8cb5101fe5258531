// Package suite reads the tests of http-tests/cache-tests: suites of tests, each a list of requests with
// what the client sends, what the origin answers and what must be observed. The tests are data; packages
// origin and client carry them out.
package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Kind is how the result of a test counts.
type Kind string

// The kinds of tests. A test without a kind is Required.
const (
	Required Kind = "required" // a failure breaks a rule of the specification
	Optimal  Kind = "optimal"  // a failure wastes a chance to use the cache
	Check    Kind = "check"    // either result is allowed
)

// Kinds are all kinds in the order of reports.
var Kinds = []Kind{Required, Optimal, Check}

// Test is one test. Requests are sent in order.
type Test struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Kind        Kind      `json:"kind"`
	DependsOn   []string  `json:"depends_on"` // tests without which the result means nothing
	Anchors     []string  `json:"spec_anchors"`
	BrowserOnly bool      `json:"browser_only"` // for caches of browsers; Load leaves them out
	BrowserSkip bool      `json:"browser_skip"`
	CDNOnly     bool      `json:"cdn_only"` // concerns CDN-Cache-Control (RFC 9213)
	Requests    []Request `json:"requests"`
}

// group is a suite in the file: tests with a common subject.
type group struct {
	Name        string   `json:"name"`
	ID          string   `json:"id"`
	Description string   `json:"description"`
	Anchors     []string `json:"spec_anchors"`
	Tests       []*Test  `json:"tests"`
}

// maxBytes limits the file. The published suite has 180 kB.
const maxBytes = 4 << 20

// Load reads a file of suites and returns its tests in their order, without those for browsers only. It
// returns an error for an unknown member, so that no prescription is ignored silently, and for a test that
// is impossible to run or depends on an absent test.
func Load(r io.Reader) ([]*Test, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("suite: more than %d bytes; this is not a file of cache tests", maxBytes)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var groups []group
	if err := d.Decode(&groups); err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("suite: data after the list of suites")
	}
	return check(groups)
}

// check returns the tests that concern proxies, each valid, with its kind.
func check(groups []group) ([]*Test, error) {
	var tests []*Test
	known := map[string]bool{}
	for _, g := range groups {
		for _, t := range g.Tests {
			if t == nil {
				return nil, fmt.Errorf("suite: suite %q has a test that is null", g.ID)
			}
			if err := t.check(); err != nil {
				return nil, fmt.Errorf("suite: test %q: %w", t.ID, err)
			}
			if known[t.ID] {
				return nil, fmt.Errorf("suite: two tests have the id %q", t.ID)
			}
			known[t.ID] = true
			if !t.BrowserOnly {
				tests = append(tests, t)
			}
		}
	}
	for _, t := range tests {
		for _, id := range t.DependsOn {
			if !known[id] {
				return nil, fmt.Errorf("suite: test %q depends on %q, which is absent", t.ID, id)
			}
		}
	}
	return tests, nil
}

// check sets the default kind and validates everything that origin and client rely on.
func (t *Test) check() error {
	if t.ID == "" {
		return errors.New("it has no id")
	}
	switch t.Kind {
	case "":
		t.Kind = Required
	case Required, Optimal, Check:
	default:
		return fmt.Errorf("unknown kind %q; want %q", t.Kind, Kinds)
	}
	if len(t.Requests) == 0 {
		return errors.New("it has no requests")
	}
	for i := range t.Requests {
		if err := t.Requests[i].check(i == 0); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return nil
}
