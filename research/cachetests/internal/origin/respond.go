package origin

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
)

// Status codes of responses without a body, and of a response to a request that should have been
// conditional. The client takes the latter for a failure.
const (
	statusNoContent      = 204
	statusNotModified    = 304
	StatusNotConditional = 999
)

// response is a response in the form of the wire.
type response struct {
	interim []suite.Interim
	status  suite.Status
	fields  []Pair
	body    string
	head    bool // the request's method was HEAD
	close   bool // the connection ends after the response
}

// problem is a response to a request that no test sends.
func problem(code int, text string) *response {
	return &response{
		status: suite.Status{Code: code, Phrase: http.StatusText(code)},
		fields: []Pair{{"Content-Type", "text/plain"}},
		body:   text + "\n",
		close:  true,
	}
}

// number returns the number of a request in its test. A request without a number, which a cache may send
// on its own, is the next one.
func (r *run) number(request *http.Request) int {
	if n, err := strconv.Atoi(request.Header.Get(FieldNumber)); err == nil {
		return n
	}
	return len(r.seen) + 1
}

// answer records a request and returns the prescribed response, nil to disconnect.
func (r *run) answer(request *http.Request, token string, number int, now time.Time) *response {
	want := &r.test.Requests[number-1]
	out := &response{
		interim: want.Interim,
		status:  r.status(request, number),
		body:    token,
		head:    request.Method == http.MethodHead,
		close:   request.Close,
	}
	if want.ResponseBody != nil && *want.ResponseBody != "" {
		out.body = *want.ResponseBody
	}
	base := request.RequestURI
	out.add(FieldBase, base)
	out.add(FieldCount, strconv.Itoa(len(r.seen)+1))
	out.add(fieldClient, request.Header.Get(FieldNumber))
	out.add(FieldNow, strconv.FormatInt(now.UnixMilli(), 10))
	var sent []suite.Field
	var compared []Pair
	for _, f := range want.ResponseFields {
		f.Value, f.Relative = f.Resolve(want, now, base), false
		sent = append(sent, f)
		out.add(f.Name, f.Value)
		if !f.Unchecked {
			compared = set(compared, f.Name, out.get(f.Name))
		}
	}
	r.sent[number] = sent
	if out.get("Content-Type") == "" {
		out.add("Content-Type", "text/plain")
	}
	r.seen = append(r.seen, Seen{Number: number, Method: request.Method, Header: request.Header, Sent: compared})
	numbers := make([]string, len(r.seen))
	for i, s := range r.seen {
		numbers[i] = strconv.Itoa(s.Number)
	}
	out.add(FieldNumbers, strings.Join(numbers, " "))
	if want.Disconnect {
		return nil
	}
	out.frame(now)
	return out
}

// status returns the prescribed status. If the test expects the cache to validate the previous response, it is
// 304 if the request has its validator.
func (r *run) status(request *http.Request, number int) suite.Status {
	want := &r.test.Requests[number-1]
	switch want.ExpectedType {
	case suite.ETagValidated, suite.LMValidated:
		if r.validates(request, number, "ETag", "If-None-Match") ||
			r.validates(request, number, "Last-Modified", "If-Modified-Since") {
			return suite.Status{Code: statusNotModified, Phrase: "Not Modified"}
		}
		return suite.Status{Code: StatusNotConditional, Phrase: "Not Conditional"}
	}
	if want.Status.Code != 0 {
		return want.Status
	}
	return suite.Status{Code: 200, Phrase: "OK"}
}

// validates reports whether a request's condition is exactly the validator of the previous request's
// response. If that response was never sent, its dates have no value.
func (r *run) validates(request *http.Request, number int, validator, condition string) bool {
	previous, ok := r.sent[number-1]
	if !ok && number > 1 {
		previous = r.test.Requests[number-2].ResponseFields
	}
	value := ""
	for _, f := range previous {
		if strings.EqualFold(f.Name, validator) && !f.Relative {
			value = f.Value
		}
	}
	return value != "" && Joined(request.Header, condition) == value
}

// frame adds the fields that delimit the message, as far as the test doesn't prescribe them. A body whose
// end can't be seen otherwise ends with the connection.
func (o *response) frame(now time.Time) {
	if o.get("Date") == "" {
		o.add("Date", now.UTC().Format(http.TimeFormat))
	}
	length := o.get("Content-Length")
	switch {
	case o.bodiless():
	case o.get("Transfer-Encoding") != "":
		o.close = true
	case length == "":
		o.add("Content-Length", strconv.Itoa(len(o.body)))
	case length != strconv.Itoa(len(o.body)):
		o.close = true
	}
	if o.get("Connection") == "" {
		if o.close {
			o.add("Connection", "close")
		} else {
			o.add("Connection", "keep-alive")
		}
	}
}

// bodiless reports whether the message ends with its header section.
func (o *response) bodiless() bool {
	return o.head || o.status.Code == statusNoContent || o.status.Code == statusNotModified
}

// bytes returns the interim responses and the response.
func (o *response) bytes() []byte {
	var b bytes.Buffer
	for _, i := range o.interim {
		fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", i.Code, http.StatusText(i.Code))
		for _, f := range i.Fields {
			fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
		}
		b.WriteString("\r\n")
	}
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", o.status.Code, o.status.Phrase)
	for _, f := range o.fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	b.WriteString("\r\n")
	if !o.bodiless() {
		b.WriteString(o.body)
	}
	return b.Bytes()
}

func (o *response) add(name, value string) { o.fields = append(o.fields, Pair{name, value}) }

// get returns the values of a field, joined, or "" if it is absent.
func (o *response) get(name string) string {
	var values []string
	for _, f := range o.fields {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return strings.Join(values, ", ")
}

// set replaces the value of a name, or appends both.
func set(list []Pair, name, value string) []Pair {
	for i := range list {
		if list[i].Name == name {
			list[i].Value = value
			return list
		}
	}
	return append(list, Pair{name, value})
}

// Joined returns the values of a field as one, as RFC 9110 section 5.2 combines them, or "" if the field is
// absent.
func Joined(h http.Header, name string) string {
	return strings.Join(h.Values(name), ", ")
}
