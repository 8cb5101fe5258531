package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
)

// maxSlotMap is the size of the largest slot map in bytes.
const maxSlotMap = 1 << 20

// SlotMap returns the slot map of the node, nil if it has none.
func (c *Client) SlotMap(ctx context.Context) (*slots.Map, error) {
	response, err := c.do(ctx, request{method: http.MethodGet, path: "/v1/slots", want: api.MediaText})
	if word(err) == api.WordAbsent {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	m, err := slots.Parse(io.LimitReader(response.Body, maxSlotMap))
	if err != nil {
		return nil, fmt.Errorf("the slot map of %s: %w", c.Base.Host, err)
	}
	return m, nil
}

// installSlotMap replaces the slot map of the node.
func (c *Client) installSlotMap(ctx context.Context, m *slots.Map) error {
	response, err := c.do(ctx, request{method: http.MethodPut, path: "/v1/slots", header: map[string]string{"Content-Type": api.MediaText},
		body: bytes.NewReader(m.Text())})
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Cluster is the nodes of slot maps, for a client of one of them. The others get the same credentials.
type Cluster struct {
	Map     *slots.Map // nil: there is one node
	c       *Client
	clients map[string]*Client // by URL
}

// Cluster returns the nodes of the node's slot map.
func (c *Client) Cluster(ctx context.Context) (*Cluster, error) {
	m, err := c.SlotMap(ctx)
	return c.ClusterOf(m), err
}

// ClusterOf returns the nodes of a slot map.
func (c *Client) ClusterOf(m *slots.Map) *Cluster { return &Cluster{m, c, map[string]*Client{}} }

// Of returns the client of the node to which the map gives a name.
func (k *Cluster) Of(ctx context.Context, name string) (*Client, error) {
	if k.Map == nil {
		return k.c, nil
	}
	return k.leader(ctx, k.Map.Shards[k.Map.Owner(slots.Of([]byte(name)))])
}

// leader returns the client of the node that leads a shard: of several, the first that accepts changes.
func (k *Cluster) leader(ctx context.Context, s slots.Shard) (*Client, error) {
	var errs []error
	for _, n := range s.Nodes {
		c, err := k.node(n)
		if err == nil && len(s.Nodes) > 1 {
			err = c.Ready(ctx, true)
		}
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// node returns the client of a node.
func (k *Cluster) node(n slots.Node) (*Client, error) {
	if n.URL == "" {
		return nil, fmt.Errorf("the slot map has no URL of the node %s; write it after the address", n.Addr)
	}
	if k.clients[n.URL] == nil {
		base, err := parseAddress(strings.TrimSuffix(n.URL, "/"))
		if err != nil {
			return nil, err
		}
		c := *k.c
		c.Base, base.User = base, k.c.Base.User
		k.clients[n.URL] = &c
	}
	return k.clients[n.URL], nil
}
