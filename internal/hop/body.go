package hop

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"sync"
	"time"
)

// ClientError is that the client did not send its request as HTTP demands, or not in time. It says nothing about the origin.
type ClientError struct {
	Status int // of the answer: 400 or 408
	Err    error
}

// Error returns the cause.
func (e *ClientError) Error() string { return "the request: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ClientError) Unwrap() error { return e.Err }

var errEnded = errors.New("the request has ended")

// body is the body of a request on its way to the origin. The transport may read it after the handler has returned, when the
// connection already serves the next request: then Read touches nothing of the connection.
type body struct {
	from     io.ReadCloser
	request  *http.Request // of the client, which gets the trailers
	trailers http.Header   // of the request to the origin
	control  *http.ResponseController
	patience time.Duration

	reading sync.Mutex // held by Read

	mu    sync.Mutex
	ended bool  // the handler returns
	whole bool  // read to its end
	fault error // of the client
}

// newBody returns the body of r. The handler calls end before it returns.
func newBody(w http.ResponseWriter, r *http.Request, patience time.Duration) *body {
	trailers := http.Header{}
	maps.Copy(trailers, r.Trailer) // announced names
	whole := r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0
	return &body{from: r.Body, request: r, trailers: trailers, control: http.NewResponseController(w), patience: patience, whole: whole}
}

// Read gives the client the patience for its next bytes.
func (b *body) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.isWhole() {
		return 0, io.EOF // the transport reads once more, when the server may have closed the body for the answer
	}
	if !b.extend(b.patience) {
		return 0, errEnded
	}
	n, err := b.from.Read(p)
	if err != nil {
		err = b.finish(err)
	}
	return n, err
}

// extend sets the time until which Read waits, or none if the patience is zero. It returns false, and sets nothing, if the handler returns.
func (b *body) extend(patience time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return false
	}
	var until time.Time
	if patience > 0 {
		until = time.Now().Add(patience)
	}
	_ = b.control.SetReadDeadline(until)
	return true
}

// finish notes how the body ended. After the end of the body the server waits for the client to go away, which must not look like one that is slow.
func (b *body) finish(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return errEnded
	}
	if err == io.EOF {
		err = b.takeTrailers()
	}
	switch {
	case err == nil:
		b.whole = true
		_ = b.control.SetReadDeadline(time.Time{})
		return io.EOF
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.fault = &ClientError{http.StatusRequestTimeout, fmt.Errorf("no byte for %v: %w", b.patience, err)}
	default:
		b.fault = &ClientError{http.StatusBadRequest, err}
	}
	return b.fault
}

// takeTrailers copies the trailers to the request for the origin.
func (b *body) takeTrailers() error {
	arrived := maps.Clone(b.request.Trailer)
	if err := mendTrailers(arrived); err != nil {
		return err
	}
	clear(b.trailers)
	maps.Copy(b.trailers, arrived)
	return nil
}

// Close does nothing: net/http would read the rest of the body, for which the client may wait for an answer.
func (b *body) Close() error { return nil }

// end ends the use of the body by the transport. Until the client has sent the rest, or the patience is over, the
// server waits for it before it closes the connection.
func (b *body) end() {
	if !b.isWhole() {
		b.extend(b.patience)
	}
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
}

// isWhole reports whether the body was read to its end.
func (b *body) isWhole() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.whole
}

// failed returns the fault of the client, or nil.
func (b *body) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fault
}

// settle waits for a Read that is in progress. A server cancels the request because of its fault before Read returns it.
func (b *body) settle() {
	b.reading.Lock()
	defer b.reading.Unlock()
}

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
