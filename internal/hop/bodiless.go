package hop

import (
	"net/http"
	"time"
)

// Bodiless is a handler for a server whose requests have no bodies, such as that of a status page. It does not wait for the
// body of a request: if it has not arrived with the head, the connection ends with the response. Otherwise net/http waits
// for the rest of a body before it responds, for as long as the client likes.
func Bodiless(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // recorders of tests have none
		}
		h.ServeHTTP(w, r)
	})
}
