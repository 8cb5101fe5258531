package remote

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// Subscriptions returns the states of the publications that a replica follows.
func (c *Client) Subscriptions(ctx context.Context) ([]api.Subscription, error) {
	var list api.SubscriptionList
	err := c.json(ctx, http.MethodGet, "/v1/subscriptions", nil, &list)
	return list.Subscriptions, err
}

// Owners returns, for each key, the filters of a replica that may contain it, in the order in which to try
// them, and those without an answer. Keys are UTF-8.
func (c *Client) Owners(ctx context.Context, keys []string) (api.Owners, error) {
	var owners api.Owners
	err := c.json(ctx, http.MethodPost, "/v1/subscriptions/has", api.KeyList{Keys: keys}, &owners)
	if err == nil && len(owners.Filters) != len(keys) {
		err = fmt.Errorf("%s answered %d of %d keys", c.Base.Host, len(owners.Filters), len(keys))
	}
	return owners, err
}

// PublicationClient returns a client for requests to the server of a URL, with the certificates and the
// token of o. Other servers, to which it may redirect, do not get the token.
func PublicationClient(base *url.URL, o Options) (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	var err error
	if t.TLSClientConfig, err = o.tls(); err != nil {
		return nil, err
	}
	t.DisableCompression = true // objects are incompressible
	if o.Token == "" {
		return &http.Client{Transport: t}, nil
	}
	return &http.Client{Transport: authorized{t, base.Scheme, base.Host, o.Token}}, nil
}

// authorized adds a token to requests to one server.
type authorized struct {
	http.RoundTripper
	scheme, host, token string
}

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == a.scheme && r.URL.Host == a.host {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.RoundTripper.RoundTrip(r)
}
