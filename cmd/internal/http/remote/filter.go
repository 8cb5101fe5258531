package remote

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/url"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/wire"
)

// Brief describes a filter in a list.
type Brief struct {
	api.Brief
	Name string `json:"-"` // decoded
}

// Info describes a filter.
type Info struct {
	api.Info
	Name string `json:"-"` // decoded
}

// decodeName returns the name of b.
func decodeName(b api.Brief) (string, error) {
	if b.Name != nil {
		return *b.Name, nil
	}
	name, err := base64.StdEncoding.DecodeString(b.NameBase64)
	if err == nil && len(name) == 0 {
		err = errors.New("the node returned a filter without a name: it is no node of umbel")
	}
	return string(name), err
}

// Hasher returns the filter's hasher; ok is false if the seed is secret.
func (i Info) Hasher() (umbel.Hasher, bool, error) {
	var h umbel.Hasher
	if i.SecretSeed && i.Seed == "" {
		return h, false, nil
	}
	var err error
	if h.Alg, err = umbel.ParseAlg(i.Hash); err != nil {
		return h, false, err
	}
	if h.Seed, err = umbel.ParseSeed(i.Seed); err != nil {
		return h, false, err
	}
	return h, true, h.Check()
}

// Info describes a filter.
func (c *Client) Info(ctx context.Context, name string) (Info, error) {
	return c.info(ctx, http.MethodGet, api.FilterPath(name), nil)
}

// List yields all filters that the user may read and whose names begin with prefix.
func (c *Client) List(ctx context.Context, prefix string) iter.Seq2[Brief, error] {
	return func(yield func(Brief, error) bool) {
		q := url.Values{"limit": {"1000"}}
		if prefix != "" {
			q.Set("prefix", prefix)
		}
		for {
			response, err := c.do(ctx, request{method: http.MethodGet, path: "/v1/filters", query: q, want: api.MediaJSON})
			var page api.Page
			if err == nil {
				err = decode(response, &page)
			}
			if err != nil {
				yield(Brief{}, err)
				return
			}
			for _, b := range page.Filters {
				name, err := decodeName(b)
				if !yield(Brief{b, name}, err) || err != nil {
					return
				}
			}
			if page.Cursor == "" {
				return
			}
			q.Set("cursor", page.Cursor)
		}
	}
}

// Make makes an empty filter. The Word of its error is api.WordExists if the name is taken.
func (c *Client) Make(ctx context.Context, name string, spec api.FilterSpec) (Info, error) {
	return c.info(ctx, http.MethodPut, api.FilterPath(name), spec)
}

// Delete deletes a filter.
func (c *Client) Delete(ctx context.Context, name string) error {
	return c.json(ctx, http.MethodDelete, api.FilterPath(name), nil, nil)
}

// Do performs an operation with its number.
func (c *Client) Do(ctx context.Context, name string, op *operation.Operation, n umbel.Number) (Info, error) {
	if op.Number.Name == "" {
		return c.change(ctx, name, op.Name, nil)
	}
	return c.change(ctx, name, op.Name, map[string]json.Number{op.Number.Name: json.Number(n.String())})
}

// Merge adds the keys of another filter of the node.
func (c *Client) Merge(ctx context.Context, name, other string) (Info, error) {
	return c.change(ctx, name, "merge", api.NewFilterName(other))
}

// Copy makes a second filter with the current contents. The Word of its error is
// api.WordExists if the second name is taken.
func (c *Client) Copy(ctx context.Context, name, other string) (Info, error) {
	return c.change(ctx, name, "copy", api.NewFilterName(other))
}

// Intersect estimates how many keys two filters of the node share.
func (c *Client) Intersect(ctx context.Context, name, other string) (api.Overlap, error) {
	var o api.Overlap
	err := c.json(ctx, http.MethodPost, api.FilterPath(name, "intersect"), api.NewFilterName(other), &o)
	return o, err
}

func (c *Client) change(ctx context.Context, name, operation string, in any) (Info, error) {
	return c.info(ctx, http.MethodPost, api.FilterPath(name, operation), in)
}

// info makes a request whose response describes a filter.
func (c *Client) info(ctx context.Context, method, path string, in any) (i Info, err error) {
	if err = c.json(ctx, method, path, in, &i); err == nil {
		i.Name, err = decodeName(i.Brief)
	}
	return i, err
}

// Get writes the container of a filter to w, in the smallest encoding if packed is set, and
// returns the filter's ID.
func (c *Client) Get(ctx context.Context, name string, packed bool, w io.Writer) (id string, err error) {
	accept := api.MediaContainer
	if packed {
		accept += "; form=" + api.FormPacked
	}
	response, err := c.do(ctx, request{method: http.MethodGet, path: api.FilterPath(name),
		header: map[string]string{"Accept": accept}, want: api.MediaContainer, long: true})
	if err != nil {
		return "", err
	}
	id, _, _ = strings.Cut(strings.Trim(response.Header.Get("Etag"), `"`), "-")
	return id, save(response, func(body io.Reader) error {
		for _, err := range wire.ReadBlocks(io.TeeReader(body, w), wire.Limits{Bytes: math.MaxInt64}, nil) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// save calls read with the body of a response, which read checks while it writes it: a file must not grow with something
// else than what was requested.
func save(response *http.Response, read func(io.Reader) error) error {
	defer response.Body.Close()
	b := &counted{r: response.Body}
	err := read(b)
	if err = cmp.Or(b.err, err); err != nil {
		return fmt.Errorf("%s: after %d bytes: %w", response.Request.URL.Host, b.n, err)
	}
	return nil
}

// counted counts the bytes that are read, and keeps the error of a connection.
type counted struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// Put makes a filter from a container. It replaces an existing filter if replace is true;
// otherwise the Word of its error is api.WordExists. A container that is no io.Seeker, or a pipe, is sent only
// once, also if the node refuses it.
func (c *Client) Put(ctx context.Context, name string, container io.Reader, replace bool) (Info, error) {
	req := request{method: http.MethodPut, path: api.FilterPath(name),
		header: map[string]string{"Content-Type": api.MediaContainer, "Prefer": preferKept}, want: api.MediaJSON, long: true}
	if !replace {
		req.header["If-None-Match"] = "*"
	}
	var i Info
	send := func() error {
		response, err := c.do(ctx, req)
		if err != nil {
			return err
		}
		return decode(response, &i)
	}
	var err error
	if again, ok := rewinder(container); ok {
		err = c.untilAccepted(ctx, func() error {
			body, err := again()
			if err != nil {
				return err
			}
			defer body.end()
			req.body = body
			return send()
		})
	} else {
		req.body = io.NopCloser(container)
		err = send()
	}
	if err == nil {
		i.Name, err = decodeName(i.Brief)
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusPreconditionFailed {
		e.Type = api.ProblemPath + api.WordExists
	}
	return i, err
}

// Backup calls read with a backup of the node, which read checks while it copies it.
func (c *Client) Backup(ctx context.Context, read func(io.Reader) error) error {
	response, err := c.do(ctx, request{method: http.MethodGet, path: "/v1/backup", want: api.MediaBackup, long: true})
	if err != nil {
		return err
	}
	return save(response, read)
}
