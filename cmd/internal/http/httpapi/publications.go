package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

// publicationRoutes are the routes of publications. They need the right to read the filter, unless the
// publication is public. Publishing now needs the right admin, because it copies the filter and writes
// to the disk whenever it is requested.
func publicationRoutes() []route {
	return []route{
		{pattern: "GET /v1/publications", list: true, serve: (*request).listPublications},
		{pattern: "GET /v1/publications/{name}", right: access.Read, published: true, serve: (*request).showPublication},
		{pattern: "POST /v1/publications/{name}", right: access.Admin, serve: (*request).publishNow},
		{pattern: "GET /v1/publications/{name}/{record}", right: access.Read, published: true, serve: (*request).servePublication},
		{pattern: "GET /v1/publications/{name}/objects/{object}", right: access.Read, published: true, serve: (*request).servePublication},
	}
}

// isPublic reports whether the request is for a publication that everybody may read.
func (req *request) isPublic() bool {
	if !req.route.published {
		return false
	}
	p, err := req.Publications.Get(req.name)
	return err == nil && p.Public()
}

func (req *request) listPublications() error {
	list := api.PublicationList{Publications: []api.Publication{}}
	for _, p := range req.Publications.List() {
		if p.Public || req.allowed(access.Read, p.Filter) {
			list.Publications = append(list.Publications, p)
		}
	}
	return writeJSON(req.response, http.StatusOK, list)
}

func (req *request) showPublication() error {
	p, err := req.Publications.Get(req.name)
	if err != nil {
		return err
	}
	return writeJSON(req.response, http.StatusOK, p.Status())
}

func (req *request) publishNow() error {
	version, err := req.Publications.Publish(req.http.Context(), req.name)
	switch {
	case err == nil:
		return writeJSON(req.response, http.StatusOK, api.Published{Version: version})
	case problemTypeOf(err) == internalError && !clientLeft(req.http, err):
		return asProblem(notPublished, err)
	}
	return err
}

// servePublication replies with a head or an object. A request that waits for another head gets the
// present one when the server shuts down.
func (req *request) servePublication() error {
	p, err := req.Publications.Get(req.name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(req.http.Context())
	defer cancel()
	defer context.AfterFunc(req.Serving, cancel)()
	r := req.http.Clone(ctx)
	r.URL.Path = "/" + req.http.PathValue("record")
	if object := req.http.PathValue("object"); object != "" {
		r.URL.Path = "/objects/" + object
	}
	w := &publicationWriter{ResponseWriter: req.response, private: !p.Public()}
	p.Handler().ServeHTTP(w, r)
	switch w.refused {
	case http.StatusNotFound:
		return problemf(noPath, "the publication of %q has no %s", req.name, strings.TrimPrefix(r.URL.Path, "/"))
	case http.StatusServiceUnavailable:
		return problemf(notPublished, "the directory of the publication of %q can't be read", req.name)
	}
	return nil
}

// publicationWriter changes replies of a web.Handler: errors become problems, and caches that several
// users share do not keep what only some of them may read.
type publicationWriter struct {
	http.ResponseWriter
	private bool
	refused int // status of a reply that is discarded
}

func (w *publicationWriter) WriteHeader(status int) {
	if status == http.StatusNotFound || status == http.StatusServiceUnavailable {
		w.refused = status
		return
	}
	if h := w.Header(); w.private {
		h.Set("Cache-Control", strings.Replace(h.Get("Cache-Control"), "public", "private", 1))
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *publicationWriter) Write(b []byte) (int, error) {
	if w.refused != 0 {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find the underlying writer.
func (w *publicationWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
