package siblings

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/httptarget"
	"github.com/umbel-filters/umbel/internal/pause"
)

// sample is a response that the cache should hold, with what is needed to request it.
type sample struct {
	key          Key
	target, host string
}

// maxSamples is the number of responses whose URLs are kept.
const maxSamples = 256

// samples is a random sample of the responses that were stored. It is safe for concurrent use.
type samples struct {
	mu   sync.Mutex
	list []sample
}

// add adds a response, and replaces a random one if there are enough. Responses with variants are not sampled.
func (s *samples) add(x sample, plain bool) {
	if !plain {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) < maxSamples {
		s.list = append(s.list, x)
		return
	}
	s.list[rand.IntN(len(s.list))] = x
}

// draw returns up to n samples that are still thought to be held.
func (s *samples) draw(n int, held *Held) (drawn []sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range rand.Perm(len(s.list)) {
		if len(drawn) < n && held.Has(s.list[i].key) {
			drawn = append(drawn, s.list[i])
		}
	}
	return drawn
}

// ProbeResult is the result of a probe.
type ProbeResult struct {
	Requested, Lost int
	// Cleared is true if more than half were lost, so that the set was cleared.
	Cleared bool
}

// probeSize is the number of responses that a probe requests.
const probeSize = 16

// Probe requests up to 16 responses that the own cache should hold, as a sibling does. Those that it does not hold are
// removed. If they are more than half, the cache was emptied, for example by a restart, and everything is
// removed. The error is that of a cache that can't be reached.
func (m *Mesh) Probe(ctx context.Context) (ProbeResult, error) {
	var result ProbeResult
	drawn := m.samples.draw(probeSize, m.held)
	for _, x := range drawn {
		held, err := m.probe(ctx, x)
		if err != nil {
			return result, err
		}
		result.Requested++
		if !held {
			result.Lost++
			m.held.Removed(x.key)
		}
	}
	if result.Requested >= probeSize/4 && 2*result.Lost > result.Requested {
		result.Cleared = true
		m.held.Clear()
	}
	return result, nil
}

// probe reports whether the own cache holds a response.
func (m *Mesh) probe(ctx context.Context, x sample) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	u, err := httptarget.On(m.o.Cache, x.target)
	if err != nil {
		return false, err
	}
	r := &http.Request{
		Method: http.MethodGet, URL: u, Host: x.host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Cache-Control": {"only-if-cached"}, HopHeader: {m.name}},
	}
	res, err := m.o.HTTP.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK, nil
}

// probes probes the own cache once per period until ctx ends.
func (m *Mesh) probes(ctx context.Context) {
	var fault faultlog.Fault
	for pause.For(ctx, m.o.ProbePeriod) {
		switch result, err := m.Probe(ctx); {
		case err != nil && ctx.Err() == nil:
			fault.Failed(m.o.Log).Warn("the own cache can't be probed", event.ProbeFailed, "error", err)
		case err != nil:
		case result.Cleared:
			fault.Succeeded(m.o.Log).Info("the own cache can be probed again", event.ProbeRecovered)
			m.o.Log.Warn("the own cache lost its responses; nothing is published until they are stored again", event.CacheLost,
				"requested", result.Requested, "lost", result.Lost)
		default:
			fault.Succeeded(m.o.Log).Info("the own cache can be probed again", event.ProbeRecovered)
		}
	}
}
