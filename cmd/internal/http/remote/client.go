// Package remote is the client of a node's HTTP interface. It does the work of the verbs with --addr.
//
// Keys are hashed by the client, which sends digests of 16 bytes, so that no key leaves the machine. If
// the seed of a filter's hash is secret, the keys are sent instead.
package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// Client is a client of one node. It is safe for concurrent use if its fields are not changed.
//
// While the node refuses changes (api.WordReadOnly), as it does until a full disk has room again, methods that change
// something send what was refused again, for up to 30 seconds. While the node cannot write a change that it has made, it
// waits for up to 30 seconds before it responds.
type Client struct {
	Base    *url.URL
	Token   string // "": none; Base may contain a user and a password
	HTTP    *http.Client
	Timeout time.Duration // how long the node may be silent, for every request; 0: Patience, or 15 minutes for work on whole filters
	Move    bool          // requests move filters between the nodes of a slot map: api.HeaderMove
	Refused func(error)   // is called before a refused change is sent again, perhaps concurrently; may be nil
}

// Options configure a client.
type Options struct {
	Token  string
	CACert string // file with trusted certificates, instead of the system's
	Cert   string // files of the client's certificate and key, both or none
	Key    string
}

const defaultPort = "8780"

// New returns a client of the node at an address: http://host:port, https://host:port, host:port
// or host. The default scheme is http, the default port 8780. A user and a password may precede
// the host. It does not connect.
func New(addr string, o Options) (*Client, error) {
	base, err := parseAddress(addr)
	if err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = parallel
	t.DisableCompression = true // containers are incompressible
	t.ResponseHeaderTimeout = 0 // patience depends on the request
	if t.TLSClientConfig, err = o.tls(); err != nil {
		return nil, err
	}
	return &Client{Base: base, Token: o.Token, HTTP: &http.Client{Transport: t, CheckRedirect: refuseRedirect}}, nil
}

// refuseRedirect prevents the token from being sent to another server, and a change of the
// method.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func parseAddress(addr string) (*url.URL, error) {
	text := addr
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("address %q: %w", addr, errors.Unwrap(err)) // the outer error would contain a password
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("address %q: want http:// or https://, got %q", u.Redacted(), u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("address %q has no host, want host:port", u.Redacted())
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("address %q has a path or query, want only host:port", u.Redacted())
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), defaultPort)
	}
	u.Path = ""
	return u, nil
}

func (o Options) tls() (*tls.Config, error) {
	config := new(tls.Config)
	if o.CACert != "" {
		pem, err := os.ReadFile(o.CACert)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s contains no PEM certificate", o.CACert)
		}
	}
	if o.Cert != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// request is a request to be sent.
type request struct {
	method string
	path   string // absolute and escaped
	query  url.Values
	header map[string]string
	body   io.Reader
	want   string // media type of the response; empty: the response has no content
	long   bool   // the node may work for minutes before it responds
}

// errNoName is the error of a filter without a name, whose path would be that of the list.
var errNoName = errors.New("the name of the filter is empty")

// do sends a request. The response has a success status and the wanted media type; the caller must close its body.
func (c *Client) do(ctx context.Context, req request) (*http.Response, error) {
	if req.path == api.FilterPath("") {
		return nil, errNoName
	}
	target := c.Base.String() + req.path
	if len(req.query) > 0 {
		target += "?" + req.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, req.method, target, req.body)
	if err != nil {
		return nil, err
	}
	if req.want != "" {
		r.Header.Set("Accept", req.want)
	}
	for name, value := range req.header {
		r.Header.Set(name, value)
	}
	if c.Move {
		r.Header.Set(api.HeaderMove, "1")
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	patience := Patience
	if req.long {
		patience = longPatience
	}
	if c.Timeout > 0 {
		patience = c.Timeout
	}
	response, err := c.send(r, patience)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // the outer error repeats the address
		}
		return nil, &ConnectError{c.Base.Host, err}
	}
	if !isSuccess(response, req.want) {
		defer response.Body.Close()
		return nil, problemOf(response)
	}
	return response, nil
}

// isSuccess reports whether a response is that of a node to a request that succeeded. Other servers answer with 200 as well.
func isSuccess(response *http.Response, want string) bool {
	if want == "" {
		return response.StatusCode == http.StatusNoContent
	}
	media, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	return (response.StatusCode == http.StatusOK || response.StatusCode == http.StatusCreated) && media == want
}

// preferKept makes a node that cannot write a change for a moment wait for 30 seconds before it responds with not-kept.
const preferKept = "wait=30"

// json sends a request with a JSON body, unless in is nil, and decodes the response to out,
// which is nil if the response has no content. If the method is not GET, the request may be a change.
func (c *Client) json(ctx context.Context, method, path string, in, out any) error {
	req := request{method: method, path: path, header: map[string]string{}, long: method != http.MethodGet}
	if out != nil {
		req.want = api.MediaJSON
	}
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
		req.header["Content-Type"] = api.MediaJSON
	}
	if method != http.MethodGet {
		req.header["Prefer"] = preferKept
	}
	return c.untilAccepted(ctx, func() error {
		if body != nil {
			req.body = bytes.NewReader(body)
		}
		response, err := c.do(ctx, req)
		if err != nil {
			return err
		}
		return decode(response, out)
	})
}

// maxJSON is the maximum size of a JSON response in bytes.
const maxJSON = 64 << 20

// decode decodes a JSON response.
func decode(response *http.Response, out any) error {
	defer response.Body.Close()
	if out == nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(response.Body, maxJSON))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s returned a response that is not umbel's: %w", response.Request.URL.Host, err)
	}
	return nil
}

// Ready returns an error if the node does not answer queries or, if writable is set, if it accepts no
// changes.
func (c *Client) Ready(ctx context.Context, writable bool) error {
	path, want := "/readyz", "ready"
	if writable {
		path, want = "/writable", "writable"
	}
	var s struct{ Status string }
	err := c.json(ctx, http.MethodGet, path, nil, &s)
	if err == nil && s.Status != want {
		err = fmt.Errorf("%s returned the status %q, want %q: it is no node of umbel", c.Base.Host, s.Status, want)
	}
	return err
}

// Status returns the state of the node.
func (c *Client) Status(ctx context.Context) (s api.Status, err error) {
	err = c.json(ctx, http.MethodGet, "/v1/status", nil, &s)
	return s, err
}

// Snapshot makes the node take a snapshot and returns when it is complete.
func (c *Client) Snapshot(ctx context.Context) error {
	return c.json(ctx, http.MethodPost, "/v1/snapshot", nil, nil)
}

// Group makes a member of a group "leave", so that it follows, or "take-over", so that it leads.
func (c *Client) Group(ctx context.Context, do string) error {
	return c.json(ctx, http.MethodPost, "/v1/group/"+do, nil, nil)
}

// Acknowledge ends the state of the node in which names of filters may be missing, and reports whether it was in
// this state.
func (c *Client) Acknowledge(ctx context.Context) (bool, error) {
	var a api.Acknowledged
	err := c.json(ctx, http.MethodPost, "/v1/acknowledge", nil, &a)
	return a.Acknowledged, err
}
