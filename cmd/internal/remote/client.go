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

	"github.com/umbel-filters/umbel/cmd/internal/api"
)

// Client asks one node. Its methods may be called concurrently; its fields don't change
// once they are.
type Client struct {
	Base  *url.URL
	Token string // "": none, unless Base has a user and a password
	HTTP  *http.Client
}

// Options say how a node is reached.
type Options struct {
	Token  string
	CACert string // file of certificates that are trusted, in the place of the system's
	Cert   string // files of the client's own certificate and its key, both or none
	Key    string
}

const (
	defaultPort = "8780"
	// headerTimeout is the time in which a response must begin.
	headerTimeout = time.Minute
)

// New returns the client of a node at an address: http://host:port, https://host:port, or
// host:port or host alone, which are http; the port is 8780 unless given. A name and a
// password may stand before the host. It asks nothing yet.
func New(addr string, o Options) (*Client, error) {
	base, err := parseAddress(addr)
	if err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = parallel
	t.DisableCompression = true // what is sent has no redundancy
	t.ResponseHeaderTimeout = headerTimeout
	if t.TLSClientConfig, err = o.tls(); err != nil {
		return nil, err
	}
	return &Client{Base: base, Token: o.Token, HTTP: &http.Client{Transport: t, CheckRedirect: refuseRedirect}}, nil
}

// stay keeps a client from going elsewhere with its token, or asking with another method
// than it was told to.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func parseAddress(addr string) (*url.URL, error) {
	text := addr
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("address %q: %w", addr, errors.Unwrap(err)) // url's own would repeat a password
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("address %q: want http:// or https://, got %q", u.Redacted(), u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("address %q has no host: want host:port", u.Redacted())
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("address %q goes on after the port: want host:port alone", u.Redacted())
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
			return nil, fmt.Errorf("%s has no certificate in PEM", o.CACert)
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

// call is a request to be made.
type request struct {
	method string
	path   string // from the root on, escaped
	query  url.Values
	header map[string]string
	body   io.Reader
}

// do makes a request. The response's status is one of success; the body must be closed.
func (c *Client) do(ctx context.Context, what request) (*http.Response, error) {
	target := c.Base.String() + what.path
	if len(what.query) > 0 {
		target += "?" + what.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, what.method, target, what.body)
	if err != nil {
		return nil, err
	}
	for name, value := range what.header {
		r.Header.Set(name, value)
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := c.HTTP.Do(r)
	if err != nil {
		return nil, &ConnectError{c.Base.Host, errors.Unwrap(err)} // without the address again
	}
	if response.StatusCode < 200 || response.StatusCode >= 300 && response.StatusCode != http.StatusNotModified {
		defer response.Body.Close()
		return nil, problemOf(response)
	}
	return response, nil
}

// json makes a request with a JSON body, unless in is nil, and reads the response to out,
// unless that is nil.
func (c *Client) json(ctx context.Context, method, path string, in, out any) error {
	what := request{method: method, path: path, header: map[string]string{"Accept": api.MediaJSON}}
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		what.body = bytes.NewReader(b)
		what.header["Content-Type"] = api.MediaJSON
	}
	response, err := c.do(ctx, what)
	if err != nil {
		return err
	}
	return decode(response, out)
}

// maxJSON is the longest JSON that is read, in bytes.
const maxJSON = 64 << 20

// decode reads an response that is JSON.
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
		return fmt.Errorf("%s answers what isn't umbel's: %w", response.Request.URL.Host, err)
	}
	return nil
}
