package suite

import (
	"os"
	"strings"
	"testing"
	"time"
)

// one returns a file with one test that has these members.
func one(members string) string {
	return `[{"name": "S", "id": "s", "tests": [{"id": "a", "name": "A", ` + members + `}]}]`
}

// requests returns a file with one test of these requests.
func requests(list string) string { return one(`"requests": [` + list + `]`) }

func TestLoad(t *testing.T) {
	tests, err := Load(strings.NewReader(requests(`{"response_status": [404, "Gone?"], "expected_status": null,
		"response_headers": [["A", "ü", false], ["Date", -1]], "expected_response_headers": ["B", ["Age", ">", 3]],
		"interim_responses": [[102], [103, [["Link", "x"]]]]}`)))
	if err != nil {
		t.Fatal(err)
	}
	r := tests[0].Requests[0]
	if tests[0].Kind != Required || r.Status != (Status{404, "Gone?"}) || !r.ExpectedStatus.Present || r.ExpectedStatus.Valid || r.ExpectedText.Present {
		t.Errorf("%+v", tests[0])
	}
	if f := r.ResponseFields[0]; f.Value != "\xfc" || !f.Unchecked {
		t.Errorf("%+v, want one byte of Latin-1, not compared", f)
	}
	if f := r.ResponseFields[1]; !f.Relative || f.Number != -1 || f.Unchecked {
		t.Errorf("%+v, want one second ago", f)
	}
	if f := r.ExpectedFields; !f[0].Any || f[1].Operator != ">" || f[1].Number != 3 {
		t.Errorf("%+v", f)
	}
	if i := r.Interim; i[0].Code != 102 || i[1].Fields[0].Value != "x" {
		t.Errorf("%+v", i)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, file := range map[string]string{
		"empty":              ``,
		"not a list":         `{}`,
		"more data":          `[] []`,
		"null test":          `[{"tests": [null]}]`,
		"no id":              `[{"tests": [{"name": "A", "requests": [{}]}]}]`,
		"same id":            `[{"tests": [{"id": "a", "requests": [{}]}, {"id": "a", "requests": [{}]}]}]`,
		"no requests":        requests(``),
		"unknown kind":       one(`"kind": "nice", "requests": [{}]`),
		"unknown dependency": one(`"depends_on": ["b"], "requests": [{}]`),
		"unknown member":     requests(`{"expected_nothing": true}`),
		"unknown type":       requests(`{"expected_type": "fast"}`),
		"nothing to validate": requests(
			`{"expected_type": "etag_validated"}`),
		"no earlier date":    requests(`{"magic_ims": true}`),
		"status 100":         requests(`{"response_status": [100, "Continue"]}`),
		"status 1000":        requests(`{"response_status": [1000, "Many"]}`),
		"empty status":       requests(`{"response_status": []}`),
		"two status lines":   requests(`{"response_status": [200, "OK\r\n"]}`),
		"interim 200":        requests(`{"interim_responses": [[200]]}`),
		"long pause":         requests(`{"response_pause": 61}`),
		"relative Age":       requests(`{"response_headers": [["Age", 3]]}`),
		"far date":           requests(`{"response_headers": [["Date", 4294967297]]}`),
		"field without name": requests(`{"response_headers": [["", "x"]]}`),
		"name with colon":    requests(`{"response_headers": [["a:b", "x"]]}`),
		"only a name":        requests(`{"response_headers": ["a"]}`),
		"list of a name":     requests(`{"response_headers": [["a"]]}`),
		"two lines":          requests(`{"response_headers": [["a", "x\r\nb: y"]]}`),
		"beyond Latin-1":     requests(`{"response_headers": [["a", "→"]]}`),
		"unknown operator":   requests(`{"expected_response_headers": [["a", "<", 3]]}`),
		"operator to send":   requests(`{"request_headers": [["a", ">", 3]]}`),
	} {
		if tests, err := Load(strings.NewReader(file)); err == nil {
			t.Errorf("%s: %+v, want an error", name, tests)
		}
	}
	if _, err := Load(strings.NewReader(strings.Repeat(" ", maxBytes+1))); err == nil {
		t.Error("a file that is too large was read")
	}
}

func TestBrowserOnly(t *testing.T) {
	tests, err := Load(strings.NewReader(one(`"browser_only": true, "requests": [{}]`)))
	if err != nil || len(tests) != 0 {
		t.Errorf("%v, %v, want no tests", tests, err)
	}
}

func TestResolve(t *testing.T) {
	now := time.Date(2026, 1, 31, 23, 59, 59, 999e6, time.UTC)
	for _, c := range []struct {
		field Field
		want  string
	}{
		{Field{Name: "Date", Relative: true, Number: 1}, "Sun, 01 Feb 2026 00:00:00 GMT"},
		{Field{Name: "If-Modified-Since", Relative: true, Number: -60}, "Saturday, 31-Jan-26 23:58:59 GMT"},
		{Field{Name: "Expires", Value: "0"}, "0"},
		{Field{Name: "location", Value: "x"}, "/base/x"},
		{Field{Name: "Content-Location"}, "/base"},
	} {
		r := &Request{MagicLocations: true, RFC850: []string{"if-modified-since"}}
		if got := c.field.Resolve(r, now, "/base"); got != c.want {
			t.Errorf("%+v resolves to %q, want %q", c.field, got, c.want)
		}
	}
	if got := (&Field{Name: "Location", Value: "x"}).Resolve(&Request{}, now, "/base"); got != "x" {
		t.Errorf("Location resolves to %q without magic_locations, want x", got)
	}
}

// FuzzLoad tests that Load refuses or returns tests that can be run: every date and every field to send has a
// value.
func FuzzLoad(f *testing.F) {
	data, err := os.ReadFile("../client/testdata/tests.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		tests, err := Load(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		for _, test := range tests {
			for _, r := range test.Requests {
				for _, field := range append(r.Headers, r.ResponseFields...) {
					if v := field.Resolve(&r, time.Unix(0, 0), ""); strings.ContainsAny(v, "\r\n\x00") || field.Any {
						t.Fatalf("test %q sends the field %+v", test.ID, field)
					}
				}
			}
		}
	})
}
