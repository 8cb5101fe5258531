// Package client sends the requests of tests through a cache and checks what comes back and what the
// origin received.
package client

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

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

	// Trace is called for each test that ended, if it is not nil, by one goroutine at a time.
	Trace func(t *suite.Test, v verdict.Verdict, received []*Response, seen []origin.Seen)
}

// Run runs the tests and returns their verdicts. It returns an error if Base is not a URL, or the context's if
// that ends first.
func (c *Client) Run(ctx context.Context, tests []*suite.Test) (verdict.Verdicts, error) {
	base, err := url.Parse(c.Base)
	if err != nil || base.Scheme != "http" || base.Host == "" || strings.Trim(base.Path, "/") != "" {
		return nil, fmt.Errorf("client: %q is not the URL of a cache, such as http://127.0.0.1:8080", c.Base)
	}
	var (
		done     sync.WaitGroup
		mu       sync.Mutex
		verdicts = verdict.Verdicts{}
		queue    = make(chan *suite.Test)
	)
	parallel := c.Parallel
	if parallel == 0 {
		parallel = Parallel
	}
	for range parallel {
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
	token := strings.ToLower(rand.Text())
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
				if err := c.pause(ctx); err != nil {
					return err
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

func (c *Client) pause(ctx context.Context) error {
	d := c.Pause
	if d == 0 {
		d = Pause
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
