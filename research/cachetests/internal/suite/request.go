package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// The values of Request.ExpectedType.
const (
	Cached        = "cached"         // the cache answers without the origin's new response
	NotCached     = "not_cached"     // the response is the origin's response to this request
	ETagValidated = "etag_validated" // the cache validates its response with If-None-Match
	LMValidated   = "lm_validated"   // the cache validates its response with If-Modified-Since
)

// Request is one request of a test: what the client sends, what the origin answers, and what is expected.
// A member that is absent has its zero value.
type Request struct {
	// The client's request.
	Method     string   `json:"request_method"` // "" is GET
	Headers    []Field  `json:"request_headers"`
	Body       string   `json:"request_body"`
	Filename   string   `json:"filename"`  // appended to the path of the test's URL
	QueryArg   string   `json:"query_arg"` // the query of the URL
	MagicIMS   bool     `json:"magic_ims"` // If-Modified-Since is relative to the origin's clock
	RFC850     []string `json:"rfc850date"`
	PauseAfter bool     `json:"pause_after"` // wait after the response

	// The origin's response.
	Status         Status    `json:"response_status"`
	ResponseFields []Field   `json:"response_headers"`
	ResponseBody   *string   `json:"response_body"` // nil is the token of the test's URL
	MagicLocations bool      `json:"magic_locations"`
	Interim        []Interim `json:"interim_responses"`
	PauseSeconds   int       `json:"response_pause"` // before the response, in [0, 60]
	Disconnect     bool      `json:"disconnect"`     // close the connection instead

	// What must be observed.
	ExpectedType           string           `json:"expected_type"`
	ExpectedStatus         Optional[int]    `json:"expected_status"` // null accepts any status
	ExpectedFields         []Field          `json:"expected_response_headers"`
	ExpectedMissing        []Field          `json:"expected_response_headers_missing"`
	ExpectedText           Optional[string] `json:"expected_response_text"` // null accepts any body
	ExpectedInterim        []Interim        `json:"expected_interim_responses"`
	ExpectedMethod         string           `json:"expected_method"`
	ExpectedRequestFields  []Field          `json:"expected_request_headers"`
	ExpectedRequestMissing []Field          `json:"expected_request_headers_missing"`
	CheckBody              *bool            `json:"check_body"` // false accepts any body

	// Setup makes every failure of this request a failure of the set-up. SetupTests names the members for
	// which a failure is one of the set-up.
	Setup      bool     `json:"setup"`
	SetupTests []string `json:"setup_tests"`

	// For browsers only.
	Cache    string `json:"cache"`
	Redirect string `json:"redirect"` // redirects are never followed
}

// IsSetup reports whether a failure of the named member is a failure of the set-up.
func (r *Request) IsSetup(member string) bool {
	return r.Setup || slices.Contains(r.SetupTests, member)
}

// check validates r, the first request of its test if first.
func (r *Request) check(first bool) error {
	switch r.ExpectedType {
	case "", Cached, NotCached:
	case ETagValidated, LMValidated:
		if first {
			return fmt.Errorf("expected_type is %q, but no earlier response can be validated", r.ExpectedType)
		}
	default:
		return fmt.Errorf("unknown expected_type %q", r.ExpectedType)
	}
	if r.MagicIMS && first {
		return errors.New("magic_ims needs an earlier response")
	}
	if s := r.Status.Code; s != 0 && (s < 200 || s > 999) {
		return fmt.Errorf("response_status is %d, want a number in [200, 999]", s)
	}
	if strings.ContainsFunc(r.Status.Phrase, unicode.IsControl) {
		return fmt.Errorf("the phrase %q of response_status has a control character", r.Status.Phrase)
	}
	if r.PauseSeconds < 0 || r.PauseSeconds > 60 {
		return fmt.Errorf("response_pause is %d, want seconds in [0, 60]", r.PauseSeconds)
	}
	for _, f := range r.ExpectedFields {
		if f.Operator != "" && f.Operator != ">" {
			return fmt.Errorf("unknown operator %q for header %s", f.Operator, f.Name)
		}
	}
	for _, list := range [][]Field{r.Headers, r.ResponseFields} {
		for _, f := range list {
			if f.Any || f.Operator != "" {
				return fmt.Errorf("header %s that is to be sent has no value", f.Name)
			}
		}
	}
	return nil
}

// Status is a status code and its phrase: [404, "Not Found"]. The zero value is absent.
type Status struct {
	Code   int
	Phrase string
}

// UnmarshalJSON reads [code, phrase].
func (s *Status) UnmarshalJSON(data []byte) error {
	return array(data, &s.Code, &s.Phrase)
}

// Interim is an interim response: [103, [[name, value], …]].
type Interim struct {
	Code   int
	Fields []Field
}

// UnmarshalJSON reads [code] or [code, fields].
func (i *Interim) UnmarshalJSON(data []byte) error {
	if err := array(data, &i.Code, &i.Fields); err != nil {
		return err
	}
	if i.Code < 102 || i.Code > 199 {
		return fmt.Errorf("interim status %d, want a number in [102, 199]", i.Code)
	}
	return nil
}

// Optional is a value that may be absent, or null if Present and not Valid.
type Optional[T any] struct {
	Present, Valid bool
	Value          T
}

// UnmarshalJSON reads null or a value.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	o.Present, o.Valid = true, string(data) != "null"
	return json.Unmarshal(data, &o.Value)
}

// array reads a list into the first of the values.
func array(data []byte, values ...any) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) == 0 || len(list) > len(values) {
		return fmt.Errorf("a list of %d values, want 1 to %d: %.100s", len(list), len(values), data)
	}
	for i, v := range list {
		if err := json.Unmarshal(v, values[i]); err != nil {
			return err
		}
	}
	return nil
}
