package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// HandlerOptions configure a handler. The zero value has the defaults.
type HandlerOptions struct {
	// MaxAge is how long caches may return a head without a request to the handler, in whole
	// seconds; the default is one second. Subscribers behind a cache are later by up to MaxAge.
	MaxAge time.Duration
	// MaxWait is the maximum time for which a request for the head waits, in whole seconds; the
	// default is 50 seconds. It is limited by the WriteTimeout of the server, and should be
	// less than the timeout of proxies, which is usually one minute.
	MaxWait time.Duration
	// MaxWaiters is the maximum number of requests that wait; the default is 10,000. Others are
	// answered at once, and their clients request the head periodically.
	MaxWaiters int
}

// Handler serves a publication. It is safe for concurrent use.
//
// It replies to GET and HEAD with paths /head, /head-FACTOR and /objects/NAME; use http.StripPrefix for
// others. It supports ranges of objects if the bodies of the source are io.Seekers or have a size
// (share.Source). While requests wait for a head, one goroutine watches its record.
type Handler struct {
	source share.Source
	o      HandlerOptions
	board  board
	close  sync.Once
}

// NewHandler returns a handler of the publication in a source.
func NewHandler(source share.Source, o HandlerOptions) *Handler {
	if o.MaxAge <= 0 {
		o.MaxAge = time.Second
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 50 * time.Second
	}
	if o.MaxWaiters <= 0 {
		o.MaxWaiters = 10_000
	}
	return &Handler{source: source, o: o, board: board{source: source, limit: o.MaxWaiters, closed: make(chan struct{})}}
}

// Close answers all requests that wait. No later request waits. Use it to end a server without delay:
//
//	server.RegisterOnShutdown(handler.Close)
func (h *Handler) Close() { h.close.Do(func() { close(h.board.closed) }) }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/")
	if share.IsHead(path) {
		h.head(w, r, path)
		return
	}
	name, ok := strings.CutPrefix(path, objectsPath+"/")
	if !ok || share.CheckObject(name) != nil {
		refuse(w, http.StatusNotFound)
		return
	}
	h.object(w, r, name)
}

// refuse replies with an error that caches do not keep.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, http.StatusText(status), status)
}

// fail replies with an error of the source.
func fail(w http.ResponseWriter, err error) {
	if errors.Is(err, share.ErrNotFound) {
		refuse(w, http.StatusNotFound)
		return
	}
	refuse(w, http.StatusServiceUnavailable)
}

// head replies with a head, or waits for another one.
func (h *Handler) head(w http.ResponseWriter, r *http.Request, record string) {
	head := h.wait(r, record)
	if head == nil {
		var err error
		if head, err = h.source.Record(r.Context(), record); err != nil {
			fail(w, err)
			return
		}
	}
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	// Caches do not return a head while they fetch another one.
	header.Set("Cache-Control", fmt.Sprintf("public, max-age=%d, stale-while-revalidate=0", h.o.MaxAge/time.Second))
	header.Set("Etag", `"`+tagOf(head)+`"`)
	header.Set(longPollHeader, strconv.Itoa(int(h.maxWait(r)/time.Second)))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(head)))
}

// maxWait returns for how long a request may wait.
func (h *Handler) maxWait(r *http.Request) time.Duration {
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && s.WriteTimeout > 0 {
		return min(h.o.MaxWait, s.WriteTimeout*3/4)
	}
	return h.o.MaxWait
}

// wait waits for another head if the request says so. It returns nil if there is none, and does not wait
// for a class that the publication does not have.
func (h *Handler) wait(r *http.Request, record string) []byte {
	if r.URL.RawQuery == "" || r.Method != http.MethodGet {
		return nil
	}
	query := r.URL.Query()
	limit, err := time.ParseDuration(query.Get(waitQuery))
	if err != nil || limit <= 0 {
		return nil
	}
	limit = min(limit, h.maxWait(r))
	tag := query.Get(afterQuery)
	if tag == "" {
		tag = strings.Trim(strings.TrimPrefix(r.Header.Get("If-None-Match"), "W/"), `"`)
	}
	if tag == "" {
		return nil
	}
	if record != share.HeadName {
		if _, err := h.source.Record(r.Context(), record); err != nil {
			return nil
		}
	}
	return h.board.wait(r.Context(), record, limit, tag)
}

// tagOf returns the entity tag of a record, without quotes.
func tagOf(record []byte) string { return share.RefOf(record).Hash.String() }

// object replies with an object.
func (h *Handler) object(w http.ResponseWriter, r *http.Request, name string) {
	body, err := h.source.Object(r.Context(), name, 0)
	if err != nil {
		fail(w, err)
		return
	}
	defer body.Close()
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Cache-Control", "public, max-age=31536000, immutable, no-transform")
	header.Set("Etag", `"`+name+`"`)
	if content := seekable(r.Context(), h.source, name, body); content != nil {
		http.ServeContent(w, r, "", time.Time{}, content)
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, body); err != nil {
		// The length is not known, so only an aborted connection shows that bytes are missing.
		panic(http.ErrAbortHandler)
	}
}
