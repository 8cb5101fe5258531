package httpapi

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

func isUTF8(s string) bool { return utf8.ValidString(s) }

// brief is what a list says of a filter.
type brief struct {
	Name       *string    `json:"name,omitempty"`
	NameBase64 string     `json:"nameBase64,omitempty"` // of one that isn't UTF-8
	Path       string     `json:"path"`
	Kind       string     `json:"kind"`
	Bytes      uint64     `json:"bytes"`
	Expires    *time.Time `json:"expires,omitempty"`
}

func briefOf(f *engine.Filter) brief {
	name := f.Name()
	b := brief{Path: pathOf(name), Kind: f.Kind(), Bytes: f.Bytes()}
	b.Name, b.NameBase64 = text(name)
	if at := f.Expires(); at != 0 {
		t := time.UnixMilli(at).UTC()
		b.Expires = &t
	}
	return b
}

// pathOf returns the path of a filter. Names that consist of points alone would be taken
// for steps of the path.
func pathOf(name string) string {
	segment := url.PathEscape(name)
	if strings.Trim(segment, ".") == "" {
		segment = strings.ReplaceAll(segment, ".", "%2E")
	}
	return "/v1/filters/" + segment
}

// info is what is said of one filter.
type info struct {
	brief
	Hash string `json:"hash"`
	// Seed is left out where it is secret.
	Seed       string           `json:"seed,omitempty"`
	SecretSeed bool             `json:"secretSeed,omitempty"`
	Params     map[string]float `json:"params"`
	Can        []string         `json:"can"`
	Parts      int              `json:"parts"`
	Cells      uint64           `json:"cells"`
	K          float            `json:"k"`
	Keys       keysInfo         `json:"keys"`
	Fill       float            `json:"fill"`
	FPRate     float            `json:"fpRate"`
	Incomplete bool             `json:"incomplete,omitempty"`
	IdleMillis int64            `json:"idleMillis"`
	Counts     counts           `json:"counts"`
}

type keysInfo struct {
	Estimate float `json:"estimate"`
	Low      float `json:"low"`
	High     float `json:"high"`
}

// counts are what was asked since the process began.
type counts struct {
	Added   uint64 `json:"added"`
	Changed uint64 `json:"changed"`
	Asked   uint64 `json:"asked"`
	Found   uint64 `json:"found"`
	Removed uint64 `json:"removed"`
}

func (c *call) infoOf(f *engine.Filter) (info, error) {
	in := info{brief: briefOf(f), Params: map[string]float{}, IdleMillis: f.Idle(), Counts: counts(f.Counts())}
	err := f.View(func(f umbel.Filter) {
		s := f.State()
		for _, p := range s.Params {
			in.Params[p.Name] = float(p.Value.Float())
		}
		in.Can, in.Parts = ability.In(f), len(s.Parts)
	})
	if err != nil {
		return in, err
	}
	h := f.Hasher()
	in.Hash, in.SecretSeed = h.Alg.String(), h.Secret()
	if seed := h.Seed.Bytes(); h.Seed != (umbel.Seed{}) && (!in.SecretSeed || c.has(access.Admin, "")) {
		in.Seed = hex.EncodeToString(seed[:])
	}
	s := f.Measured()
	in.Cells, in.K, in.Fill, in.FPRate = s.Cells, float(s.K), float(s.Fill), float(s.FPRate)
	in.Keys = keysInfo{float(s.Keys), float(s.Low), float(s.High)}
	in.Incomplete = f.Hidden()
	return in, nil
}

// get answers with a filter: what it is, or its container.
func (c *call) get() error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	c.Header().Add("Vary", "Accept")
	media, form, err := accepted(c.request, mediaJSON, mediaContainer)
	if err != nil {
		return err
	}
	if media == mediaContainer {
		return c.sendContainer(f, form)
	}
	in, err := c.infoOf(f)
	if err != nil {
		return err
	}
	return writeJSON(c.answer, http.StatusOK, in)
}

// Limits of a list: filters in an answer, and filters looked at for one.
const (
	defaultPage = 100
	maxPage     = 10_000
	maxWalk     = 100_000
)

// page is a part of the list of all filters.
type page struct {
	Filters []brief `json:"filters"`
	Cursor  string  `json:"cursor,omitempty"` // for what follows; none at the end
}

// list answers with filters that the user may read, in no order that means anything.
func (c *call) list() error {
	q := c.request.URL.Query()
	cursor, err := number(q, "cursor", 0, 1<<64-1)
	if err != nil {
		return err
	}
	limit, err := number(q, "limit", defaultPage, maxPage)
	if err != nil {
		return err
	}
	prefix := q.Get("prefix")
	p := page{Filters: []brief{}}
	next := c.Engine.List(cursor, maxWalk, func(f *engine.Filter) bool {
		if name := f.Name(); strings.HasPrefix(name, prefix) && c.has(access.Read, name) {
			p.Filters = append(p.Filters, briefOf(f))
		}
		return uint64(len(p.Filters)) < limit
	})
	if next != 0 {
		p.Cursor = strconv.FormatUint(next, 10)
		q.Set("cursor", p.Cursor)
		c.Header().Set("Link", "</v1/filters?"+q.Encode()+`>; rel="next"`)
	}
	return writeJSON(c.answer, http.StatusOK, p)
}

// number reads a whole number of a query, at least 1 unless it is a cursor.
func number(q url.Values, name string, otherwise, most uint64) (uint64, error) {
	if !q.Has(name) {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(q.Get(name), 10, 64)
	if err != nil || n > most || n == 0 && otherwise > 0 {
		return 0, problemf(badRequest, "%s is %q, want a whole number of at most %d", name, q.Get(name), most)
	}
	return n, nil
}
