package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/research/cachetests/internal/origin"
	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
)

// Response is what the client received.
type Response struct {
	Status  int
	Header  http.Header
	Body    string
	Interim []Interim
}

// Interim is an interim response (RFC 9110 section 15.2).
type Interim struct {
	Status int
	Header http.Header
}

// Limits for a response. The tests have bodies of less than 100 bytes and one interim response.
const (
	maxBody    = 1 << 20
	maxInterim = 16
)

// exchange sends request i of a test and reads the response. It doesn't follow redirects.
func exchange(ctx context.Context, transport http.RoundTripper, base *url.URL, t *suite.Test, i int, token string,
	received []*Response) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &Response{}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			if len(out.Interim) == maxInterim {
				return fmt.Errorf("more than %d interim responses", maxInterim)
			}
			out.Interim = append(out.Interim, Interim{Status: code, Header: http.Header(header)})
			return nil
		},
	})
	r := &t.Requests[i]
	request, err := newRequest(ctx, base, r, token)
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", i+1, err)
	}
	request.Header = header(t, i, received)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", i+1, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("response %d: its content: %w", i+1, err)
	}
	out.Status, out.Header, out.Body = response.StatusCode, response.Header, string(body)
	return out, nil
}

func newRequest(ctx context.Context, base *url.URL, r *suite.Request, token string) (*http.Request, error) {
	at := *base
	at.Path = origin.Prefix + token
	if r.Filename != "" {
		at.Path += "/" + r.Filename
	}
	at.RawQuery = r.QueryArg
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if r.Body != "" {
		body = strings.NewReader(r.Body)
	}
	return http.NewRequestWithContext(ctx, method, at.String(), body)
}

// header returns the fields of request i. The first ones are those of the client with which the results were
// published, the fetch function of Node.js: some tests depend on them, for example on a language.
func header(t *suite.Test, i int, received []*Response) http.Header {
	r := &t.Requests[i]
	h := http.Header{
		"Accept":          {"*/*"},
		"Accept-Language": {"*"},
		"Accept-Encoding": {"gzip, deflate"},
		"User-Agent":      {"cachetests"},
		// A browser's cache is passed by fields like these, which have no meaning for a proxy.
		"Pragma":           {"foo"},
		"Cache-Control":    {"nothing-to-see-here"},
		"Test-Name":        {t.Name},
		"Test-Id":          {t.ID},
		origin.FieldNumber: {strconv.Itoa(i + 1)},
	}
	own := http.Header{}
	for _, f := range r.Headers {
		value := f.Value
		if f.Relative {
			value = strconv.FormatInt(f.Number, 10)
			if r.MagicIMS {
				value = f.Resolve(r, received[i-1].now(), "")
			}
		}
		own.Add(f.Name, value)
	}
	for name, values := range own {
		switch name {
		case "Accept", "Accept-Language", "Accept-Encoding", "User-Agent":
			h[name] = []string{strings.Join(values, ", ")}
		default: // fetch sends the values of one field in one line
			h[name] = []string{strings.Join(append(h[name], values...), ", ")}
		}
	}
	if own.Get("Range") != "" {
		h["Accept-Encoding"] = []string{"identity"} // an encoding would have other ranges
	}
	if r.Body != "" && own.Get("Content-Type") == "" {
		h["Content-Type"] = []string{"text/plain;charset=UTF-8"}
	}
	return h
}

// now returns the origin's time when it made the response, and the zero time for a response of another
// server.
func (r *Response) now() time.Time {
	ms, err := strconv.ParseInt(r.Header.Get(origin.FieldNow), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// count returns the origin's number of the response. It is false if the response has none.
func (r *Response) count() (int, bool) {
	n, err := strconv.Atoi(r.Header.Get(origin.FieldCount))
	return n, err == nil
}

// get returns the values of a field, joined. It is false if the field is absent.
func (r *Response) get(name string) (string, bool) {
	return origin.Joined(r.Header, name), len(r.Header.Values(name)) > 0
}
