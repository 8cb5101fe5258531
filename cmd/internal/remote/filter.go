package remote

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
)

// Brief is what a list says of a filter.
type Brief struct {
	Name       string     `json:"name"`
	NameBase64 string     `json:"nameBase64"`
	Path       string     `json:"path"`
	Kind       string     `json:"kind"`
	Bytes      uint64     `json:"bytes"`
	Expires    *time.Time `json:"expires"`
}

// named gives b its name where it came in base64.
func (b *Brief) named() error {
	if b.NameBase64 == "" {
		return nil
	}
	name, err := base64.StdEncoding.DecodeString(b.NameBase64)
	b.Name = string(name)
	return err
}

// Info is what a node says of a filter. Numbers that may be infinite are nil then.
type Info struct {
	Brief
	Hash       string              `json:"hash"`
	Seed       string              `json:"seed"`
	SecretSeed bool                `json:"secretSeed"`
	Params     map[string]*float64 `json:"params"`
	Can        []string            `json:"can"`
	Parts      int                 `json:"parts"`
	Cells      uint64              `json:"cells"`
	K          *float64            `json:"k"`
	Keys       Estimate            `json:"keys"`
	Fill       *float64            `json:"fill"`
	FPRate     *float64            `json:"fpRate"`
	Incomplete bool                `json:"incomplete"`
}

// Estimate is a number of keys, with an interval that holds it with probability 0.95.
type Estimate struct {
	Estimate *float64 `json:"estimate"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

// Hasher returns how the filter hashes, and false if the node keeps the seed to itself.
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

// path returns the path of a filter, and of what is done with it.
func path(name string, verb ...string) string {
	segment := url.PathEscape(name)
	if strings.Trim(segment, ".") == "" { // a step of the path, otherwise
		segment = strings.ReplaceAll(segment, ".", "%2E")
	}
	return strings.Join(append([]string{"/v1/filters/" + segment}, verb...), "/")
}

// Info tells what a filter is.
func (c *Client) Info(ctx context.Context, name string) (Info, error) {
	var i Info
	if err := c.json(ctx, http.MethodGet, path(name), nil, &i); err != nil {
		return i, err
	}
	return i, i.named()
}

// List yields all filters that the user may read whose names begin with prefix.
func (c *Client) List(ctx context.Context, prefix string) iter.Seq2[Brief, error] {
	return func(yield func(Brief, error) bool) {
		q := url.Values{"limit": {"1000"}}
		if prefix != "" {
			q.Set("prefix", prefix)
		}
		for {
			answer, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/filters", query: q})
			var page struct {
				Filters []Brief
				Cursor  string
			}
			if err == nil {
				err = decode(answer, &page)
			}
			if err != nil {
				yield(Brief{}, err)
				return
			}
			for _, b := range page.Filters {
				if err := b.named(); !yield(b, err) || err != nil {
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

// Order is a filter that is wanted.
type Order struct {
	Kind    string             `json:"kind,omitempty"`
	Keys    uint64             `json:"keys,omitempty"`
	FPRate  float64            `json:"fpRate,omitempty"`
	Bytes   uint64             `json:"bytes,omitempty"`
	Hash    string             `json:"hash,omitempty"` // "": the node's
	Seed    string             `json:"seed,omitempty"`
	Params  map[string]float64 `json:"params,omitempty"`
	Expires *time.Time         `json:"expires,omitempty"`
}

// Make makes an empty filter. The error wraps engine.ErrExists if the name is taken.
func (c *Client) Make(ctx context.Context, name string, o Order) (Info, error) {
	var i Info
	if err := c.json(ctx, http.MethodPut, path(name), o, &i); err != nil {
		return i, err
	}
	return i, i.named()
}

// Forecast is what a filter of a kind would be. Problem says why there can't be one.
type Forecast struct {
	Kind    string   `json:"kind"`
	Keys    uint64   `json:"keys"`
	FPRate  *float64 `json:"fpRate"`
	Cells   uint64   `json:"cells"`
	Bytes   uint64   `json:"bytes"`
	K       *float64 `json:"k"`
	Fits    bool     `json:"fits"` // within the node's memory
	Problem *Error   `json:"problem"`
}

// Plan tells what filters would cost, of the order's kind or, without one, of all.
func (c *Client) Plan(ctx context.Context, o Order) ([]Forecast, error) {
	var out struct{ Plans []Forecast }
	err := c.json(ctx, http.MethodPost, "/v1/plan", o, &out)
	return out.Plans, err
}

// Delete forgets a filter.
func (c *Client) Delete(ctx context.Context, name string) error {
	return c.json(ctx, http.MethodDelete, path(name), nil, nil)
}

// Clear forgets the keys of a filter.
func (c *Client) Clear(ctx context.Context, name string) (Info, error) {
	return c.change(ctx, name, "clear", nil)
}

// Seal turns what was added to a filter into the form that is asked fast.
func (c *Client) Seal(ctx context.Context, name string) (Info, error) {
	return c.change(ctx, name, "seal", nil)
}

// Fold makes a filter smaller by a factor.
func (c *Client) Fold(ctx context.Context, name string, factor uint64) (Info, error) {
	return c.change(ctx, name, "fold", map[string]uint64{"factor": factor})
}

// Unfold makes a filter larger by a factor.
func (c *Client) Unfold(ctx context.Context, name string, factor uint64) (Info, error) {
	return c.change(ctx, name, "unfold", map[string]uint64{"factor": factor})
}

// Advance tells a filter the time.
func (c *Client) Advance(ctx context.Context, name string, to uint64) (Info, error) {
	return c.change(ctx, name, "advance", map[string]uint64{"to": to})
}

// Compact joins the parts of a filter as far as its rate stays at fpRate.
func (c *Client) Compact(ctx context.Context, name string, fpRate float64) (Info, error) {
	return c.change(ctx, name, "compact", map[string]float64{"fpRate": fpRate})
}

// Merge adds the keys of another of the node's filters.
func (c *Client) Merge(ctx context.Context, name, other string) (Info, error) {
	return c.change(ctx, name, "merge", nameOf(other))
}

// Copy makes a second filter as this one is now. The error wraps engine.ErrExists if its name is
// taken.
func (c *Client) Copy(ctx context.Context, name, other string) (Info, error) {
	return c.change(ctx, name, "copy", nameOf(other))
}

// Overlap is how many keys two filters have, alone and together.
type Overlap struct {
	A, B, Union, Both Sizes
	Cells             uint64 // at which they were compared
}

// Sizes is a number of keys, with an interval that holds it with probability 0.95 or more.
// What may be infinite is nil then.
type Sizes struct{ Keys, Low, High *float64 }

// Intersect estimates how many keys two of the node's filters share.
func (c *Client) Intersect(ctx context.Context, name, other string) (Overlap, error) {
	var o Overlap
	err := c.json(ctx, http.MethodPost, path(name, "intersect"), nameOf(other), &o)
	return o, err
}

// nameOf names a second filter.
func nameOf(name string) map[string]string {
	if strings.ToValidUTF8(name, "") == name {
		return map[string]string{"name": name}
	}
	return map[string]string{"nameBase64": base64.StdEncoding.EncodeToString([]byte(name))}
}

func (c *Client) change(ctx context.Context, name, verb string, in any) (Info, error) {
	var i Info
	if err := c.json(ctx, http.MethodPost, path(name, verb), in, &i); err != nil {
		return i, err
	}
	return i, i.named()
}

// Get writes the container of a filter to w, in the fewest bytes if packed, and returns its
// ID.
func (c *Client) Get(ctx context.Context, name string, packed bool, w io.Writer) (id string, err error) {
	accept := mediaContainer
	if packed {
		accept += "; form=packed"
	}
	answer, err := c.do(ctx, call{method: http.MethodGet, path: path(name), header: map[string]string{"Accept": accept}})
	if err != nil {
		return "", err
	}
	id, _, _ = strings.Cut(strings.Trim(answer.Header.Get("Etag"), `"`), "-")
	return id, save(w, answer)
}

// save writes the body of an answer.
func save(w io.Writer, answer *http.Response) error {
	defer answer.Body.Close()
	n, err := io.Copy(w, answer.Body)
	if err != nil {
		return fmt.Errorf("%s: after %s bytes: %w", answer.Request.URL.Host, strconv.FormatInt(n, 10), err)
	}
	return nil
}

// Put makes a filter of a container, in the place of one that may be there if replace is
// true; the error wraps engine.ErrExists otherwise.
func (c *Client) Put(ctx context.Context, name string, container io.Reader, replace bool) (Info, error) {
	what := call{method: http.MethodPut, path: path(name), body: container, header: map[string]string{"Content-Type": mediaContainer}}
	if !replace {
		what.header["If-None-Match"] = "*"
	}
	i, err := c.send(ctx, what)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusPreconditionFailed {
		err = &Error{Type: "/problems/exists", Title: e.Title, Status: e.Status, Detail: e.Detail, Node: e.Node}
	}
	return i, err
}

// MergeContainer adds the keys of the filter in a container.
func (c *Client) MergeContainer(ctx context.Context, name string, container io.Reader) (Info, error) {
	return c.send(ctx, call{method: http.MethodPost, path: path(name, "merge"), body: container, header: map[string]string{"Content-Type": mediaContainer}})
}

// Patch makes of a filter what a delta says.
func (c *Client) Patch(ctx context.Context, name string, delta io.Reader) (Info, error) {
	return c.send(ctx, call{method: http.MethodPost, path: path(name, "patch"), body: delta, header: map[string]string{"Content-Type": mediaDelta}})
}

// send makes a request that is answered with what is said of a filter.
func (c *Client) send(ctx context.Context, what call) (Info, error) {
	var i Info
	answer, err := c.do(ctx, what)
	if err != nil {
		return i, err
	}
	if err := decode(answer, &i); err != nil {
		return i, err
	}
	return i, i.named()
}

// Diff writes the delta that makes the node's filter of the one in a container.
func (c *Client) Diff(ctx context.Context, name string, container io.Reader, w io.Writer) error {
	answer, err := c.do(ctx, call{method: http.MethodPost, path: path(name, "diff"), body: container, header: map[string]string{"Content-Type": mediaContainer}})
	if err != nil {
		return err
	}
	return save(w, answer)
}

// Backup writes all that the node keeps.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	answer, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/backup"})
	if err != nil {
		return err
	}
	return save(w, answer)
}

// Snapshot makes the node write its state anew.
func (c *Client) Snapshot(ctx context.Context) error {
	return c.json(ctx, http.MethodPost, "/v1/snapshot", nil, nil)
}
