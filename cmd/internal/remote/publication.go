package remote

import (
	"net/http"
	"net/url"
)

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
