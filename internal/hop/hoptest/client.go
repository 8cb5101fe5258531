package hoptest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/internal/httptarget"
	"net/url"
)

// client sends requests to a proxy.
type client interface {
	// exchange returns the answer. The error is that of an answer that did not arrive completely.
	exchange(e *exchange) (*received, error)
	close()
}

// rawClient sends HTTP/1 as it is, on one connection while that lasts.
type rawClient struct {
	address string
	conn    net.Conn
	r       *bufio.Reader
}

func (c *rawClient) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

func (c *rawClient) exchange(e *exchange) (*received, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			return nil, err
		}
		c.conn, c.r = conn, bufio.NewReader(conn)
	}
	conn := c.conn
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, e.sentRequest()) // the answer shows what is wrong
		if e.request.fault != nil && e.request.fault.mended == nil {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	m, err := c.read(e)
	if err != nil || e.version == "HTTP/1.0" || hasClose(m.fields) || hasClose(e.request.fields) || e.request.fault != nil {
		c.close()
	}
	<-sent
	return m, err
}

// read reads the answer, after those that precede it.
func (c *rawClient) read(e *exchange) (*received, error) {
	var interim []received
	for {
		m, err := readHead(c.r)
		if err != nil {
			return nil, err
		}
		switch status := m.status(); {
		case status == 0:
			return nil, fmt.Errorf("%w: %q", errBroken, m.first)
		case status < 200:
			interim = append(interim, m)
		case e.method == "HEAD" || status == 204 || status == 304:
			m.interim = interim
			return &m, nil
		default:
			m.interim = interim
			err := m.readBody(c.r, hasClose(m.fields) || e.version == "HTTP/1.0")
			return &m, err
		}
	}
}

// status returns the status of the first line.
func (m *received) status() (status int) {
	var minor int
	if n, _ := fmt.Sscanf(m.first, "HTTP/1.%d %d", &minor, &status); n != 2 {
		return 0
	}
	return status
}

// hasClose reports whether the connection ends after a message.
func hasClose(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool {
		return strings.EqualFold(f.name, "Connection") && strings.Contains(f.value, "close")
	})
}

// http2Client sends HTTP/2 with net/http.
type http2Client struct {
	base      *url.URL
	transport *http.Transport
}

func newHTTP2Client(address string) *http2Client {
	return &http2Client{&url.URL{Scheme: "https", Host: address}, &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableCompression: true,
	}}
}

func (c *http2Client) close() { c.transport.CloseIdleConnections() }

func (c *http2Client) exchange(e *exchange) (*received, error) {
	u, err := httptarget.On(c.base, e.target)
	if err != nil {
		return nil, err
	}
	m := new(received)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(status int, h textproto.MIMEHeader) error {
		m.interim = append(m.interim, received{first: fmt.Sprintf("HTTP/2 %d", status), fields: fieldsOf(http.Header(h))})
		return nil
	}})
	r := (&http.Request{Method: e.method, URL: u, Host: "client.example", Header: values(e.request.fields)}).WithContext(ctx)
	if _, ok := r.Header["User-Agent"]; !ok {
		r.Header["User-Agent"] = []string{""}
	}
	if e.request.framing != none {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(e.request.body)), int64(len(e.request.body))
		if e.request.framing == chunked {
			r.ContentLength = -1
			r.Trailer = values(e.request.trailers)
		}
	}
	res, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	m.first = fmt.Sprintf("HTTP/1.1 %d", res.StatusCode)
	m.body, err = io.ReadAll(res.Body)
	m.fields, m.trailers = fieldsOf(res.Header), fieldsOf(res.Trailer)
	return m, err
}

// fieldsOf returns the fields of a header.
func fieldsOf(h http.Header) (fields []field) {
	for name, list := range h {
		for _, value := range list {
			fields = append(fields, field{name, value})
		}
	}
	return fields
}
