package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
)

// Patience is how long a cache may take until it forwards requests, unless a Client has another value.
const Patience = 15 * time.Second

// forwarding is a test whose only response must not be stored.
var forwarding = &suite.Test{ID: "ready", Name: "The cache forwards to the origin", Requests: []suite.Request{{
	ResponseFields: []suite.Field{{Name: "Cache-Control", Value: "no-store"}},
	ExpectedType:   suite.NotCached,
}}}

// ready waits until the cache forwards several requests in a row to the origin. A cache that started before the
// origin may consider it down at first; tests that run then would have wrong verdicts.
func (c *Client) ready(ctx context.Context, base *url.URL) error {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	const row = 5
	end := time.Now().Add(cmp.Or(c.Patience, Patience))
	for passed := 0; passed < row; {
		err := c.forwards(ctx, transport, base)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			passed++
			continue
		case time.Now().After(end):
			return fmt.Errorf("client: %s does not forward requests to http://%s: %w", c.Base, c.Origin.Addr(), err)
		}
		passed = 0
		pause.For(ctx, 100*time.Millisecond) // a context that ended is seen by the next attempt
	}
	return nil
}

// forwards runs the test forwarding.
func (c *Client) forwards(ctx context.Context, transport http.RoundTripper, base *url.URL) error {
	token := newToken()
	c.Origin.Add(token, forwarding)
	response, err := exchange(ctx, transport, base, forwarding, 0, token, nil)
	seen := c.Origin.Remove(token)
	if err != nil {
		return err
	}
	if len(seen) == 0 {
		return errors.New("the origin received nothing")
	}
	return checkResponse(&forwarding.Requests[0], 1, token, response)
}
