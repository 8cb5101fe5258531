package client

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/research/cachetests/internal/origin"
	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
	"github.com/umbel-filters/umbel/research/cachetests/internal/verdict"
)

// failure is an expectation that wasn't met.
type failure struct {
	setup bool
	text  string
}

func (f *failure) Error() string { return f.text }

// judge returns the verdict of a test that ended with err.
func judge(err error) verdict.Verdict {
	var f *failure
	switch {
	case err == nil:
		return verdict.Verdict{}
	case !errors.As(err, &f):
		return verdict.Verdict{Kind: verdict.Harness, Text: err.Error()}
	case f.setup:
		return verdict.Verdict{Kind: verdict.Setup, Text: f.text}
	default:
		return verdict.Verdict{Kind: verdict.Assertion, Text: f.text}
	}
}

// always marks what every test builds on.
const always = true

func failed(setup bool, format string, values ...any) error {
	return &failure{setup, fmt.Sprintf(format, values...)}
}

// checkResponse compares response n with what request r expects. The order of the checks decides which
// failure is reported; it is that of the published results.
func checkResponse(r *suite.Request, n int, token string, got *Response) error {
	if numbers := strings.Fields(got.Header.Get(origin.FieldNumbers)); repeats(numbers) {
		return failed(always, "retry: the cache sent a request twice; the origin received %s", strings.Join(numbers, " "))
	}
	for _, check := range []func(*suite.Request, int, *Response) error{
		checkType, checkStatus, checkFields, checkMissing, checkInterim,
	} {
		if err := check(r, n, got); err != nil {
			return err
		}
	}
	return checkBody(r, n, token, got)
}

func repeats(list []string) bool {
	slices.Sort(list)
	return len(slices.Compact(slices.Clone(list))) < len(list)
}

// checkType checks whether the response was stored. A 304 of the cache itself may lack the origin's fields.
func checkType(r *suite.Request, n int, got *Response) error {
	setup := r.IsSetup("expected_type")
	count, ok := got.count()
	switch {
	case r.ExpectedType == suite.Cached && !ok && got.Status == http.StatusNotModified:
	case r.ExpectedType == suite.Cached && (!ok || count >= n):
		return failed(setup, "response %d is not from the cache", n)
	case r.ExpectedType == suite.NotCached && (!ok || count != n):
		return failed(setup, "response %d is not the origin's response to this request, so it is from the cache", n)
	}
	return nil
}

func checkStatus(r *suite.Request, n int, got *Response) error {
	want, setup := http.StatusOK, always
	switch {
	case r.ExpectedStatus.Present && !r.ExpectedStatus.Valid:
		return nil
	case r.ExpectedStatus.Present:
		want, setup = r.ExpectedStatus.Value, r.IsSetup("expected_status")
	case r.Status.Code != 0:
		want = r.Status.Code
	case got.Status == origin.StatusNotConditional:
		return failed(r.IsSetup("expected_type"), "request %d reached the origin without a condition", n)
	}
	if got.Status != want {
		return failed(setup, "response %d has status %d, want %d", n, got.Status, want)
	}
	return nil
}

func checkFields(r *suite.Request, n int, got *Response) error {
	setup := r.IsSetup("expected_response_headers")
	for _, f := range r.ExpectedFields {
		value, ok := got.get(f.Name)
		if f.Operator == ">" {
			if number, valid := leadingNumber(value); !valid || number <= f.Number {
				return failed(setup, "response %d has header %s: %s, want more than %d", n, f.Name, quote(value, ok), f.Number)
			}
			continue
		}
		if f.Any {
			if !ok {
				return failed(setup, "response %d has no header %s", n, f.Name)
			}
			continue
		}
		want := f.Resolve(r, got.now(), got.Header.Get(origin.FieldBase))
		if !ok || value != want {
			return failed(setup, "response %d has header %s: %s, want %q", n, f.Name, quote(value, ok), want)
		}
	}
	return nil
}

// checkMissing checks fields that must be absent. The published results were made without comparing fields
// that must not have a certain value, so those are not compared here either.
func checkMissing(r *suite.Request, n int, got *Response) error {
	for _, f := range r.ExpectedMissing {
		if value, ok := got.get(f.Name); ok && f.Any {
			return failed(r.IsSetup("expected_response_headers_missing"), "response %d has header %s: %q, want none",
				n, f.Name, value)
		}
	}
	return nil
}

func checkInterim(r *suite.Request, n int, got *Response) error {
	setup := r.IsSetup("expected_interim_responses")
	for i, want := range r.ExpectedInterim {
		if i >= len(got.Interim) {
			return failed(setup, "response %d came after %d interim responses, want %d", n, len(got.Interim), len(r.ExpectedInterim))
		}
		received := got.Interim[i]
		if received.Status != want.Code {
			return failed(setup, "response %d: interim response %d has status %d, want %d", n, i+1, received.Status, want.Code)
		}
		for _, f := range want.Fields {
			if value := origin.Joined(received.Header, f.Name); value != f.Value {
				return failed(setup, "response %d: interim response %d has header %s: %q, want %q", n, i+1, f.Name, value, f.Value)
			}
		}
	}
	return nil
}

func checkBody(r *suite.Request, n int, token string, got *Response) error {
	want, setup := token, always
	switch {
	case r.CheckBody != nil && !*r.CheckBody, r.ExpectedText.Present && !r.ExpectedText.Valid:
		return nil
	case r.ExpectedText.Present:
		want, setup = r.ExpectedText.Value, r.IsSetup("expected_response_text")
	case r.ResponseBody != nil:
		want = *r.ResponseBody
	case got.Status == http.StatusNoContent, got.Status == http.StatusNotModified, r.Method == http.MethodHead:
		return nil
	}
	if got.Body != want {
		return failed(setup, "response %d has body %.100q, want %q", n, got.Body, want)
	}
	return nil
}

// leadingNumber returns the number at the start of s: of "30, 40" it is 30.
func leadingNumber(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	return n, err == nil
}

func quote(value string, present bool) string {
	if !present {
		return "absent"
	}
	return strconv.Quote(value)
}
