package node

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
)

// exitOnPanic returns a handler that ends the process if h panics, as a panic in a command of a
// Redis client does. The request may hold a filter's lock and may have changed it half; net/http
// would recover and continue. http.ErrAbortHandler only ends the response.
func exitOnPanic(h http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v)
			default:
				log.Error("panic in an HTTP request; the process ends", "panic", fmt.Sprint(v), "method", r.Method, "path", r.URL.EscapedPath(), "stack", string(debug.Stack()))
				os.Exit(2)
			}
		}()
		h.ServeHTTP(w, r)
	})
}
