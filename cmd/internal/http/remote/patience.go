package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/pace"
)

// How long a node may be silent. A node responds to a change of a whole filter, or with one, after the work: a merge of
// many gigabytes takes minutes.
const (
	Patience     = time.Minute
	longPatience = 15 * time.Minute
)

// leastBytes is how much of a response must arrive in the time of Patience.
const leastBytes = 1 << 10

// silentError is the error of a node that neither takes the body of a request nor begins to respond, or whose response
// breaks off.
type silentError struct{ limit time.Duration }

func (e silentError) Error() string {
	return fmt.Sprintf("the node sent nothing for %v; give it longer with --timeout", e.limit)
}

// Timeout reports that the error is one of time, as net.Error does.
func (e silentError) Timeout() bool { return true }

// send sends a request and bounds how long the node may be silent: while it takes the body, until it begins to respond, and
// within the response.
func (c *Client) send(r *http.Request, patience time.Duration) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := func(limit time.Duration) func() { return func() { cancel(silentError{limit}) } }
	w := &watch{timer: time.AfterFunc(patience, stop(patience)), limit: patience}
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &taken{r.Body, w}
	}
	response, err := c.HTTP.Do(r)
	w.end()
	if err != nil {
		err = unsilenced(ctx, err)
		cancel(nil)
		return nil, err
	}
	within := max(min(patience, Patience), c.Timeout)
	body := response.Body
	response.Body = &paced{ctx, pace.NewReader(body, within, leastBytes, stop(within)), body, cancel}
	return response, nil
}

// unsilenced returns why a request failed: the silence of the node, or err. A cancellation by silence is none by the user.
func unsilenced(ctx context.Context, err error) error {
	if silent, ok := context.Cause(ctx).(silentError); ok {
		return silent
	}
	return err
}

// watch is the time that a node has to begin its response, from the last moment at which it took a part of the request.
type watch struct {
	mu    sync.Mutex
	timer *time.Timer // nil after end
	limit time.Duration
}

// pause stops the time until resume.
func (w *watch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watch) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

// end ends the watch. The transport may still read the body of the request after the response.
func (w *watch) end() {
	w.pause()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = nil
}

// taken is the body of a request. The transport reads a part after the node has taken the one before; while the part is
// read, perhaps from a slow pipe, no time passes for the node.
type taken struct {
	io.ReadCloser
	watch *watch
}

func (t *taken) Read(p []byte) (int, error) {
	t.watch.pause()
	defer t.watch.resume()
	return t.ReadCloser.Read(p)
}

// paced is the body of a response, which must not be slower than leastBytes in a time.
type paced struct {
	ctx    context.Context
	r      *pace.Reader
	body   io.Closer
	cancel context.CancelCauseFunc
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF {
		err = unsilenced(p.ctx, err)
	}
	return n, err
}

func (p *paced) Close() error {
	defer p.cancel(nil)
	return p.body.Close()
}
