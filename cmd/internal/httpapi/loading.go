package httpapi

import (
	"net/http"
	"time"
)

// Loading returns a handler for the time before the filters are restored: /healthz succeeds, and
// everything else is the problem not-ready with the progress as detail.
func Loading(progress func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the next request is for the node
		if r.URL.Path == "/healthz" {
			_ = writeJSON(newResponse(w, 10*time.Second), http.StatusOK, status{"alive"})
			return
		}
		writeProblem(w, r, problemf(notReady, "%s", progress()))
	})
}
