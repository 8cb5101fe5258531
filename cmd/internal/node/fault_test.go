package node

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// faulty is a filter that panics when it is read while broken is true.
type faulty struct {
	*bloom.Filter
	broken atomic.Bool
}

func (f *faulty) check() {
	if f.broken.Load() {
		panic("a fault of the kind")
	}
}

func (f *faulty) Has(d umbel.Digest) bool              { f.check(); return f.Filter.Has(d) }
func (f *faulty) HasAll(dst []bool, ds []umbel.Digest) { f.check(); f.Filter.HasAll(dst, ds) }
func (f *faulty) State() umbel.State                   { f.check(); return f.Filter.State() }
func (f *faulty) Stats() umbel.Stats                   { f.check(); return f.Filter.Stats() }
func (f *faulty) Planned() umbel.Planned               { f.check(); return f.Filter.Planned() }
func (f *faulty) AddAll(dst []bool, ds []umbel.Digest) { f.Filter.AddAll(dst, ds) }

// A filter that panics when it is read makes reads of it fail, over all interfaces and in the background. The node
// continues, reports it, and answers for other filters.
func TestFaultyFilter(t *testing.T) {
	key, _ := newKey(t, "example.org/words")
	c := testConfig(t)
	c.Publications = Publications{{Filter: "f", Key: key, Period: time.Hour}}
	var log bytes.Buffer
	n := startedWith(t, c, slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})))
	r := dial(t, n, nil)
	r.Want("UM.MAKE g bloom KEYS 1000 RATE 1%", "+OK")
	own, err := bloom.New(1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	broken := &faulty{Filter: own}
	if _, _, err := n.engine.Put("f", broken, engine.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	r.Want("UM.ADD f a b", "*2[:1, :1]")
	broken.broken.Store(true)
	for _, line := range []string{
		"UM.HAS f a", "UM.HAS f a b", "BF.EXISTS f a", "BF.MEXISTS f a b", "BF.CARD f", "UM.INFO f", "UM.ID f",
		"UM.EXPORT f", "UM.EXPORT f PACKED", "UM.OVERLAP f g", "UM.OVERLAP g f", "UM.DIFF f FROM g", "UM.DIFF g FROM f",
		"UM.MERGE h f", "UM.MERGE h g f", "UM.INTERSECT h f g", "UM.INTERSECT h g f", "UM.COPY f h", "COPY f h", "DUMP f",
		"UM.FOLD f RATE 50%", "UM.PUBLISH f",
	} {
		if got := r.Line(line); !strings.HasPrefix(got, "-ERR") {
			t.Errorf("%s: %q, want an error", line, got)
		}
	}
	for path, want := range map[string]int{
		"/v1/filters/f": http.StatusInternalServerError, "/v1/filters": http.StatusOK, "/": http.StatusOK,
		"/v1/status": http.StatusOK, "/metrics": http.StatusOK, "/readyz": http.StatusOK, "/v1/publications/f": http.StatusOK,
	} {
		if status, body := get(t, n, path); status != want {
			t.Errorf("GET %s: %d %s, want %d", path, status, body, want)
		}
	}
	for path, body := range map[string]string{"has": `{"keys":["a"]}`, "intersect": `{"name":"g"}`, "../g/intersect": `{"name":"f"}`} {
		answer, err := http.Post("http://"+n.HTTP().String()+"/v1/filters/f/"+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusInternalServerError {
			t.Errorf("POST %s: %s, want 500", path, answer.Status)
		}
	}
	container, err := http.NewRequest(http.MethodGet, "http://"+n.HTTP().String()+"/v1/filters/f", nil)
	if err != nil {
		t.Fatal(err)
	}
	container.Header.Set("Accept", "application/vnd.umbel.container")
	if answer, err := http.DefaultClient.Do(container); err != nil || answer.StatusCode != http.StatusInternalServerError {
		t.Errorf("a container: %v, %v", answer, err)
	} else {
		answer.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	if err := n.store.Snapshot(t.Context()); !errors.Is(err, engine.ErrFault) {
		t.Errorf("a snapshot: %v, want %v", err, engine.ErrFault)
	}
	if info := infoFields(t, r); info["umbel_faulty_filters"] != "1" {
		t.Errorf("INFO has %s faulty filters, want 1", info["umbel_faulty_filters"])
	}
	if s := n.status(); s.Faulty != 1 || s.Problem != "" {
		t.Errorf("the status has %d faulty filters and the problem %q", s.Faulty, s.Problem)
	}
	broken.broken.Store(false)
	r.Want("UM.HAS f a c", "*2[:1, :0]")
	r.Want("UM.ADD f c", "*1[:1]")
	if err := n.store.Snapshot(t.Context()); err != nil {
		t.Errorf("a snapshot without a fault: %v", err)
	}
	r.Want("DEL f", ":1")
	if s := n.status(); s.Faulty != 0 {
		t.Errorf("%d faulty filters, want none", s.Faulty)
	}
	if got := strings.Count(log.String(), "filter cannot be read because of a fault"); got != 1 {
		t.Errorf("%d reports, want 1: %s", got, log.String())
	}
}
