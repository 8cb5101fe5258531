package remote

import (
	"context"
	"net/http"

	"github.com/umbel-filters/umbel/cmd/internal/api"
)

// Ready returns an error if the node does not answer queries or, if writable is set, if it accepts no
// changes.
func (c *Client) Ready(ctx context.Context, writable bool) error {
	path := "/readyz"
	if writable {
		path = "/writable"
	}
	return c.json(ctx, http.MethodGet, path, nil, nil)
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
