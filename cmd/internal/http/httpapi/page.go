package httpapi

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
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

// pageHead is the page before its filters. The rest is written without package html/template, since templates call
// methods by name: the linker then keeps all methods of the program, and it is 2.4 MB larger.
//
//go:embed page.html
var pageHead string

// pagePolicy is the Content-Security-Policy of the page: nothing but its own style, which is identified by its
// hash.
var pagePolicy = sync.OnceValue(func() string {
	_, style, _ := strings.Cut(pageHead, "<style>")
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
		return writeJSON(req.response, http.StatusOK, api.Index{Filters: "/v1/filters", Kinds: "/v1/kinds",
			Status: "/v1/status", Metrics: "/metrics", OpenAPI: "/openapi.json"})
	}
	h := req.Header()
	h.Set("Content-Type", mediaHTML+"; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy())
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	_, err = io.WriteString(req, req.newPage().text())
	return err
}

// text returns the page in HTML. Every text passes escapef.
func (p page) text() string {
	var b strings.Builder
	b.WriteString(pageHead)
	if len(p.Filters) == 0 {
		b.WriteString("<p>There are no filters that you may read.</p>\n")
	} else {
		b.WriteString("<table>\n<tr><th>Filter</th><th>Kind</th><th>Fill</th><th class=\"number\">Keys</th>" +
			"<th class=\"number\">False-positive rate</th><th class=\"number\">Memory</th></tr>\n")
		for _, f := range p.Filters {
			f.row(&b)
		}
		b.WriteString("</table>\n")
	}
	if p.More != "" {
		escapef(&b, "<p class=\"soft\">and %s more</p>\n", p.More)
	}
	escapef(&b, "<h2>Try</h2>\n<pre>%s\n</pre>\n</body>\n</html>\n", strings.Join(p.Examples, "\n"))
	return b.String()
}

// row writes the row of a filter.
func (f pageFilter) row(b *strings.Builder) {
	if b.WriteString("<tr>\n<td>"); f.Path != "" {
		escapef(b, "<a href=\"%s\">%s</a>", f.Path, f.Name)
	} else {
		escapef(b, "%s", f.Name)
	}
	if f.Incomplete != "" {
		escapef(b, " <span class=\"warn\">%s: every query returns true</span>", f.Incomplete)
	}
	if escapef(b, "</td>\n<td>%s</td>\n", f.Kind); !f.Measured {
		b.WriteString("<td colspan=\"3\" class=\"soft\">not measured yet</td>\n")
	} else {
		fill := fmt.Sprint(f.Fill)
		escapef(b, "<td><meter min=\"0\" max=\"1\" value=\"%s\">%s</meter></td>\n", fill, fill)
		pageNumber(b, f.Keys, f.PlannedKeys, "")
		overfull := ""
		if f.Overfull {
			overfull = "overfull"
		}
		pageNumber(b, f.Rate, f.PlannedRate, overfull)
	}
	escapef(b, "<td class=\"number\">%s</td>\n</tr>\n", f.Memory)
}

// pageNumber writes a cell of a row. Planned and warning are "" for none.
func pageNumber(b *strings.Builder, value, planned, warning string) {
	escapef(b, "<td class=\"number\">%s", value)
	if planned != "" {
		escapef(b, "<br><span class=\"soft\">planned %s</span>", planned)
	}
	if warning != "" {
		escapef(b, "<br><span class=\"warn\">%s</span>", warning)
	}
	b.WriteString("</td>\n")
}

// escapef writes format, in which each %s stands for a text without markup, in an element or in a quoted attribute.
func escapef(b *strings.Builder, format string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, text := range texts {
		escaped[i] = html.EscapeString(text)
	}
	fmt.Fprintf(b, format, escaped...)
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
