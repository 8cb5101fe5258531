package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

//go:embed page.html
var pageText string

// pageTemplate is made when it is needed, as all here that would delay every run of the program.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// pagePolicy is the Content-Security-Policy of the page: nothing but its own style, which is identified by its
// hash.
var pagePolicy = sync.OnceValue(func() string {
	_, style, _ := strings.Cut(pageText, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
})

const (
	mediaHTML = "text/html"
	// pageFilters is the number of filters on the page, and pageName the length of the longest name, in runes.
	pageFilters = 100
	pageName    = 80
)

// page is what the page shows.
type page struct {
	Filters  []pageFilter
	More     string // number of filters that are not shown, "" for none
	Examples []string
}

// pageFilter is a filter on the page. Path is empty if the name is too long for one.
type pageFilter struct {
	Name, Path, Kind, Incomplete string
	Measured                     bool
	Fill                         float64
	Keys, PlannedKeys            string
	Rate, PlannedRate            string
	Overfull                     bool
	Memory                       string
}

// index responds with the paths of the server, for browsers with a page about the filters that the user may
// read.
func (req *request) index() error {
	req.Header().Add("Vary", "Accept")
	media, _, err := negotiate(req.http, api.MediaJSON, mediaHTML)
	if err != nil {
		return err
	}
	if media == api.MediaJSON {
		return writeJSON(req.response, http.StatusOK, api.Index{Filters: "/v1/filters", Kinds: "/v1/kinds", Status: "/v1/status", Metrics: "/metrics", OpenAPI: "/openapi.json"})
	}
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, req.newPage()); err != nil {
		return err
	}
	h := req.Header()
	h.Set("Content-Type", mediaHTML+"; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy())
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	_, err = req.Write(b.Bytes())
	return err
}

// newPage examines at most maxExamined filters, and measures only small ones.
func (req *request) newPage() page {
	p := page{Examples: req.examples()}
	more := uint64(0)
	next := req.Engine.List(0, maxExamined, func(f *engine.Filter) bool {
		switch {
		case !req.allowed(access.Read, f.Name()):
		case len(p.Filters) < pageFilters:
			p.Filters = append(p.Filters, newPageFilter(f))
		default:
			more++
		}
		return true
	})
	switch {
	case next != 0:
		p.More = fmt.Sprintf("at least %v", quantity.Count(more))
	case more > 0:
		p.More = quantity.Count(more).String()
	}
	return p
}

func newPageFilter(f *engine.Filter) pageFilter {
	name := f.Name()
	p := pageFilter{Name: pageNameOf(name), Kind: f.Kind(), Incomplete: f.Reason(), Memory: quantity.Size(f.Bytes()).String()}
	if name != "" && len(name) <= maxName {
		p.Path = api.FilterPath(name)
	}
	s, ok := f.LastMeasured()
	if !ok {
		return p
	}
	p.Measured, p.Fill, p.Rate, p.Overfull = true, s.Fill, quantity.Rate(s.FPRate).Percent(), f.Overfull()
	if p.Keys = "unknown"; !math.IsInf(s.Keys, 0) {
		p.Keys = "about " + quantity.Count(math.Round(s.Keys)).String()
	}
	if planned := f.Planned(); planned.Keys != 0 {
		p.PlannedKeys, p.PlannedRate = quantity.Count(planned.Keys).String(), quantity.Rate(planned.FPRate).Percent()
	}
	return p
}

// pageNameOf returns the beginning of a name, quoted if a character is not printable or would change the
// direction of the text.
func pageNameOf(name string) string {
	text := name
	if runes := []rune(name[:min(len(name), 4*pageName)]); len(runes) > pageName {
		text = string(runes[:pageName]) + "…"
	}
	if name == "" || strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// isPlainHost reports whether a Host header needs no quotes in a shell.
func isPlainHost(host string) bool {
	return host != "" && !strings.ContainsFunc(host, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(".:[]-", r))
	})
}

// examples are commands that work with this server.
func (req *request) examples() []string {
	host, scheme, login := "localhost:8780", "http", ""
	if isPlainHost(req.http.Host) {
		host = req.http.Host
	}
	if req.http.TLS != nil {
		scheme = "https"
	}
	if req.Users != nil {
		login = "-u NAME:PASSWORD "
	}
	filters := scheme + "://" + host + "/v1/filters"
	if req.Subscriptions != nil {
		return []string{
			"curl " + login + filters,
			"curl " + login + scheme + "://" + host + "/v1/subscriptions",
			"curl " + login + `--json '{"keys": ["alice"]}' ` + scheme + "://" + host + "/v1/subscriptions/has",
		}
	}
	return []string{
		"curl " + login + `-X PUT --json '{"keys": 1000000, "fpRate": 0.01}' ` + filters + "/users",
		"curl " + login + `--json '{"keys": ["alice", "bob"]}' ` + filters + "/users/add",
		"curl " + login + `--json '{"keys": ["alice", "carol"]}' ` + filters + "/users/has",
	}
}
