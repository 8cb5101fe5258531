package siblings

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// Caches that obey only-if-cached answer a sibling with 504 themselves, so that their sidecar does not notice that
// a response was evicted. Then the sibling reports it.

// absence is a key that a peer published and its cache does not hold.
type absence struct {
	peer *peer
	key  Key
}

const (
	maxReports     = 256      // that wait to be sent; others are dropped
	maxReportBytes = 64 << 10 // of the body of a report
)

// report queues a report of the key that r has.
func (m *Mesh) report(x *peer, r *http.Request) {
	select {
	case m.reports <- absence{x, m.Key(r)}:
	default: // the next request for the key reports it
	}
}

// sendReports sends the reports that are queued, until ctx ends.
func (m *Mesh) sendReports(ctx context.Context) {
	client := authorized(&m.o)
	for {
		var first absence
		select {
		case <-ctx.Done():
			return
		case first = <-m.reports:
		}
		lines := map[*peer]*bytes.Buffer{}
		for a, more := first, true; more; {
			if lines[a.peer] == nil {
				lines[a.peer] = new(bytes.Buffer)
			}
			if b := lines[a.peer]; b.Len()+len(a.key) < maxReportBytes {
				b.WriteString(string(a.key) + "\n")
			}
			select {
			case a = <-m.reports:
			default:
				more = false
			}
		}
		for x, b := range lines {
			m.sendReport(ctx, client, x, b)
		}
	}
}

// sendReport sends the lines of one report. If that fails, a later request for the same keys reports them.
func (m *Mesh) sendReport(ctx context.Context, client *http.Client, x *peer, lines io.Reader) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.URL.JoinPath(Path, "absent").String(), lines)
	if err != nil {
		return
	}
	if res, err := client.Do(r); err == nil {
		res.Body.Close()
	}
}

// serveAbsent removes the keys that a sibling reports. It has the token, and the worst that it can do is to make others request
// from the origin what the cache holds.
func (m *Mesh) serveAbsent(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReportBytes))
	if errors.As(err, new(*http.MaxBytesError)) {
		http.Error(w, "the report is too long", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "the report is malformed, or incomplete", http.StatusBadRequest)
		return
	}
	for line := range strings.Lines(string(b)) {
		k := Key(strings.TrimSuffix(line, "\n"))
		if m.o.Reported || len(m.varies.of(m.held.hash(k))) > 0 {
			continue // the cache knows better, or the sibling may have requested another variant
		}
		if m.held.Removed(k) {
			m.counters.evicted.Add(1)
		}
	}
	w.WriteHeader(http.StatusNoContent)
}
