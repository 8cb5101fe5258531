package web

import (
	"fmt"
	"time"
)

// StatusError is a reply of a server with a status that is no success. The errors of a [Client] wrap it, for errors.As;
// those with status 404 or 410 wrap share.ErrNotFound as well.
type StatusError struct {
	StatusCode int           // for example 403
	Status     string        // for example "403 Forbidden"
	RetryAfter time.Duration // for which the server accepts no requests, and the client sends none; 0 if that is unknown
}

func (e *StatusError) Error() string {
	if e.RetryAfter > 0 {
		return fmt.Sprintf("%s, retry after %v", e.Status, e.RetryAfter.Round(time.Second))
	}
	return e.Status
}
