package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// deadlines is a ResponseWriter that counts deadlines for reading.
type deadlines struct {
	http.ResponseWriter
	set int
}

func (d *deadlines) SetReadDeadline(time.Time) error {
	d.set++
	return nil
}

// A body is interrupted until its handler returns, and not afterwards.
func TestTimedBodyIsReleased(t *testing.T) {
	w := &deadlines{ResponseWriter: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("a"))
	a := newResponse(w, time.Minute)
	b := newTimedBody(r.Body, &a)
	b.interrupt()
	if w.set != 2 {
		t.Errorf("%d deadlines, want 2: one at the beginning, one of the interruption", w.set)
	}
	b = newTimedBody(r.Body, &a)
	before := w.set
	b.release()
	b.interrupt()
	if w.set != before {
		t.Errorf("%d deadlines after the release", w.set-before)
	}
}
