package verdict

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
)

func TestCounts(t *testing.T) {
	tests := []*suite.Test{
		{ID: "stores", Kind: suite.Optimal},
		{ID: "fresh", Kind: suite.Required, DependsOn: []string{"stores"}},
		{ID: "deep", Kind: suite.Required, DependsOn: []string{"fresh"}, CDNOnly: true},
		{ID: "alone", Kind: suite.Required},
		{ID: "setup", Kind: suite.Check},
		{ID: "cycle", Kind: suite.Check, DependsOn: []string{"cycle"}},
		{ID: "not run", Kind: suite.Check},
	}
	pass, fail := Verdict{}, Verdict{Assertion, "x"}
	got := Counts(tests, Verdicts{"stores": fail, "fresh": pass, "deep": pass, "alone": pass, "setup": {Setup, "x"}, "cycle": pass})
	want := []Count{
		{Kind: suite.Required, Tests: 3, Raw: 3, Displayed: 1, NotApplicable: 2, CDN: 1, CDNRaw: 1},
		{Kind: suite.Optimal, Tests: 1, Failed: 1},
		{Kind: suite.Check, Tests: 2, Raw: 1, SetupFailed: 1, NotApplicable: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	got = Counts(tests, Verdicts{"stores": pass, "fresh": fail, "deep": fail})
	if want := (Count{Kind: suite.Required, Tests: 2, Failed: 1, NotApplicable: 1, CDN: 1}); got[0] != want {
		t.Errorf("%+v, want %+v", got[0], want)
	}
}

func TestCompare(t *testing.T) {
	recorded := Verdicts{
		"same":      {},
		"wording":   {Assertion, `Response 2 header Expires is "null", not "Sun, 22 Nov 2026 21:17:55 GMT"`},
		"body":      {Setup, `Response body is "a", not "b"`},
		"cache":     {Assertion, "Response 2 does not come from cache"},
		"kind":      {Setup, "Response 2 status is 502, not 200"},
		"request":   {Assertion, "Response 2 status is 502, not 200"},
		"aspect":    {Assertion, "Response 2 status is 502, not 200"},
		"worse":     {},
		"recorded":  {},
		"condition": {Assertion, "request 2 wasn't sent to server"},
	}
	now := Verdicts{
		"same":      {},
		"wording":   {Assertion, `response 2 has header Expires: absent, want "Mon, 23 Nov 2026 00:00:00 GMT"`},
		"body":      {Setup, `response 1 has body "a", want "b"`},
		"cache":     {Assertion, "response 2 is not from the cache"},
		"kind":      {Assertion, "response 2 has status 502, want 200"},
		"request":   {Assertion, "response 3 has status 502, want 200"},
		"aspect":    {Assertion, "response 2 has header Age: absent, want more than 3"},
		"worse":     {Harness, "request 1: EOF"},
		"now":       {},
		"condition": {Assertion, "request 2 did not reach the origin"},
	}
	var got []string
	for _, d := range Compare(recorded, now) {
		got = append(got, d.ID)
	}
	if want := []string{"aspect", "kind", "now", "recorded", "request", "worse"}; !slices.Equal(got, want) {
		t.Errorf("differences %q, want %q", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, file := range []string{"", "null", "[]", `{"a": false}`, `{"a": []}`, `{"a": ["", "x"]}`, `{"a": ["x"]}`, `{} {}`, strings.Repeat(" ", maxBytes+1)} {
		if v, err := Read(strings.NewReader(file)); err == nil {
			t.Errorf("%.20q: %v, want an error", file, v)
		}
	}
}

// FuzzRead tests that what Read reads has the same verdicts after it was written.
func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Read(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		written, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(strings.NewReader(string(written)))
		if err != nil || !maps.Equal(again, v) || len(Compare(v, again)) > 0 {
			t.Fatalf("%s is read as %v, %v; want %v", written, again, err, v)
		}
	})
}
