// Package client sends the requests of tests through a cache and checks what comes back and what the
// origin received.
package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/research/cachetests/internal/origin"
	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
	"github.com/umbel-filters/umbel/research/cachetests/internal/verdict"
)

// Pause is the wait after a request that the published results were made with. Tests rely on it: some
// responses are fresh for two seconds.
const Pause = 3 * time.Second

// Parallel is the number of tests that run at the same time unless a Client has another one.
const Parallel = 25

// timeout ends a request to which the cache doesn't respond.
const timeout = 10 * time.Second

// Client runs tests. Base and Origin must be set.
type Client struct {
	Base     string         // URL of the cache, without a path
	Origin   *origin.Server // the server behind it
	Pause    time.Duration  // the wait after requests that prescribe one; 0 is Pause
	Parallel int            // 0 is Parallel
	Patience time.Duration  // the wait until the cache forwards requests; 0 is Patience

	// Trace is called for each test that ended, if it is not nil, by one goroutine at a time.
	Trace func(t *suite.Test, v verdict.Verdict, received []*Response, seen []origin.Seen)
}

// Run runs the tests and returns their verdicts. It returns an error if Base is not a URL or not a
// cache that forwards to Origin, or the context's if that ends first.
func (c *Client) Run(ctx context.Context, tests []*suite.Test) (verdict.Verdicts, error) {
	base, err := url.Parse(c.Base)
	if err != nil || base.Scheme != "http" || base.Host == "" || strings.Trim(base.Path, "/") != "" {
		return nil, fmt.Errorf("client: %q is not the URL of a cache, such as http://127.0.0.1:8080", c.Base)
	}
	if err := c.ready(ctx, base); err != nil {
		return nil, err
	}
	var (
		done     sync.WaitGroup
		mu       sync.Mutex
		verdicts = verdict.Verdicts{}
		queue    = make(chan *suite.Test)
	)
	for range cmp.Or(c.Parallel, Parallel) {
		done.Go(func() {
			for t := range queue {
				v, received, seen := c.run(ctx, base, t)
				mu.Lock()
				verdicts[t.ID] = v
				if c.Trace != nil {
					c.Trace(t, v, received, seen)
				}
				mu.Unlock()
			}
		})
	}
	for _, t := range tests {
		select {
		case queue <- t:
		case <-ctx.Done():
		}
	}
	close(queue)
	done.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return verdicts, nil
}

// run runs one test at a URL of its own.
func (c *Client) run(ctx context.Context, base *url.URL, t *suite.Test) (verdict.Verdict, []*Response, []origin.Seen) {
	if err := align(ctx); err != nil {
		return judge(err), nil, nil
	}
	token := newToken()
	c.Origin.Add(token, t)
	// A test has its own connections, so that no other test can disturb them.
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	var received []*Response
	err := func() error {
		for i := range t.Requests {
			response, err := exchange(ctx, transport, base, t, i, token, received)
			if err != nil {
				return err
			}
			received = append(received, response)
			if err := checkResponse(&t.Requests[i], i+1, token, response); err != nil {
				return err
			}
			if t.Requests[i].PauseAfter {
				if !pause.For(ctx, cmp.Or(c.Pause, Pause)) {
					return ctx.Err()
				}
			}
		}
		return nil
	}()
	seen := c.Origin.Remove(token)
	if err == nil {
		err = checkOrigin(t.Requests, received, seen)
	}
	return judge(err), received, seen
}

// newToken returns a random UUID (RFC 9562, version 4). Its length of 36 is the Content-Length that some tests
// prescribe for a body that consists of it.
func newToken() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// align waits for the first half of a second. Caches compare dates in whole seconds, so without it the verdict of a
// test whose requests follow each other immediately would depend on whether a second ends between them.
func align(ctx context.Context) error {
	const half = time.Second / 2
	if in := time.Duration(time.Now().Nanosecond()); in > half {
		pause.For(ctx, time.Second-in)
	}
	return ctx.Err()
}
