package httpcache

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/hop"
)

// flight is one request to the origin. The client that causes it leads it; others that want the same response join it.
// It goes on if the leader disconnects, as long as another client waits or the response may be stored.
type flight struct {
	key     string      // of the flight: the cache key, the variant, and a number if nobody can join
	shared  bool        // others may join
	old     *stored     // the stale response that is validated, or nil
	asked   *directives // by the leader
	reason  string      // why the store had no answer, for Cache-Status
	interim chan interim
	cancel  context.CancelFunc

	waiting     int         // guarded by Cache.mu
	invalidated atomic.Bool // the key has been invalidated since the request was sent

	ready chan struct{} // closed when the result is known
	result
}

// result is what a flight has found out when the header of the answer has arrived.
type result struct {
	answer      *stored        // for all clients whose requests it satisfies
	only        bool           // answer is for the leader only
	spool       *spool         // the body of answer, or nil if it is complete
	first       *spoolReader   // the leader's
	alone       *http.Response // for the leader only
	err         error          // for all
	unreachable bool           // the origin; answer is stale
	how         string         // parameters of Cache-Status
	kind        outcome
}

// outcome is how a flight ended, for the counters.
type outcome int

const (
	missed outcome = iota
	hit
	validated
	staleOnError
)

// interim is an answer with a status below 200, which precedes the final one.
type interim struct {
	status int
	header http.Header
}

// join returns the flight with the key of f, or begins f, whose leader is then the caller.
func (c *Cache) join(f *flight) (joined *flight, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !f.shared {
		c.unique++
		f.key += "\n" + strconv.FormatUint(c.unique, 10)
	}
	if other := c.flights[f.key]; other != nil {
		other.waiting++
		return other, false
	}
	f.waiting, f.ready, f.interim = 1, make(chan struct{}), make(chan interim, 8)
	c.flights[f.key] = f
	return f, true
}

// leave ends the waiting of a client. The request is cancelled if it was the last one and no answer has come.
func (c *Cache) leave(f *flight) {
	c.mu.Lock()
	f.waiting--
	abandoned := f.waiting == 0
	if abandoned {
		select {
		case <-f.ready:
			abandoned = false
		default:
			c.removeFlight(f)
		}
	}
	c.mu.Unlock()
	if abandoned {
		f.cancel()
	}
}

// removeFlight makes a flight one that nobody can join. The caller has the lock.
func (c *Cache) removeFlight(f *flight) {
	if c.flights[f.key] == f {
		delete(c.flights, f.key)
	}
}

// valid reports whether what the flight has received may be stored.
func (f *flight) valid() bool { return !f.invalidated.Load() }

// land calls store and removes the flight. A client that comes in between finds the flight or the stored response.
func (c *Cache) land(f *flight, store func()) {
	store()
	c.mu.Lock()
	c.removeFlight(f)
	c.mu.Unlock()
}

// decide publishes the result of a flight.
func (c *Cache) decide(f *flight, r result) {
	c.mu.Lock()
	f.result = r
	close(f.ready)
	c.mu.Unlock()
}

// launch starts the request of a flight.
func (c *Cache) launch(f *flight, r *http.Request, t target) {
	ctx, cancel := context.WithCancel(c.ctx)
	f.cancel = cancel
	c.tasks.Go(func() {
		c.fly(ctx, f, r, t)
		if f.alone == nil { // otherwise the leader reads the body
			cancel()
		}
	})
}

// validate validates a stale response without a client that waits. The request of the client says nothing about how fresh
// the response has to be.
func (c *Cache) validate(r *http.Request, t target, s *stored) {
	r = r.Clone(r.Context())
	delete(r.Header, "Cache-Control")
	delete(r.Header, "Pragma")
	f, leads := c.join(&flight{key: flightKey(t, s.names, r.Header), old: s, shared: true, asked: &noDirectives, reason: "stale"})
	if !leads {
		c.leave(f)
		return
	}
	c.launch(f, r, t)
	c.tasks.Go(func() { release(f) })
}

// flightKey is the key of a flight for requests that select the same response, as far as the names of the fields on
// which responses depend are known.
func flightKey(t target, names []string, h http.Header) string {
	return t.key + "\n" + variantOf(names, h)
}

// forward answers a request that the store cannot answer. The stored response is stale, or nil; the resource may have
// responses for other requests.
func (c *Cache) forward(w http.ResponseWriter, r *http.Request, t target, asked *directives, s *stored, known *resource) {
	reason := "uri-miss"
	switch {
	case s != nil && (asked.noCache || s.policy.age(time.Now()) < s.policy.lifetime):
		reason = "request"
	case s != nil:
		reason = "stale"
	case known != nil:
		reason = "vary-miss"
	}
	if r.Method == http.MethodHead || asked.noStore {
		c.pass(w, r, t, reason)
		return
	}
	_, passing := c.passing.GetIfPresent(t.key)
	shared := !passing && !asked.noCache && len(r.Header["Authorization"]) == 0
	names := known.names()
	for range 3 {
		shared = shared && (s != nil || !isConditional(r.Header) && len(r.Header["Range"]) == 0)
		f, leads := c.join(&flight{key: flightKey(t, names, r.Header), shared: shared, old: s, asked: asked, reason: reason})
		if leads && !c.landed(f, r, t) {
			c.launch(f, r, t)
		}
		if c.attend(w, r, asked, f, leads) {
			return
		}
		// The answer is for another client, or for other requests, or its body has been removed.
		if f.answer != nil && c.answerStored(w, r, t, asked) {
			return
		}
		if s, _ = c.index.find(t.key, r.Header); f.answer == nil || f.only || f.answer.matches(r.Header) {
			shared = false
			continue
		}
		names = f.answer.names
	}
	c.pass(w, r, t, reason)
}

// landed ends a flight that has just begun if the one before it has stored a response since the client looked.
func (c *Cache) landed(f *flight, r *http.Request, t target) bool {
	if !f.shared {
		return false
	}
	s, _ := c.index.find(t.key, r.Header)
	if s == nil || s == f.old || s.policy.usable(f.asked, time.Now()) != useFresh {
		return false
	}
	c.decide(f, result{answer: s, how: "hit", kind: hit})
	c.land(f, func() {})
	return true
}

// answerStored answers with a fresh stored response, if there is one now.
func (c *Cache) answerStored(w http.ResponseWriter, r *http.Request, t target, asked *directives) bool {
	s, _ := c.index.find(t.key, r.Header)
	now := time.Now()
	return s != nil && s.policy.usable(asked, now) == useFresh && c.answer(w, r, s, now, "", &c.stats.Hits) == nil
}

// attend waits for the result of a flight and answers with it. It returns false if the result is not for the client.
func (c *Cache) attend(w http.ResponseWriter, r *http.Request, asked *directives, f *flight, leads bool) (done bool) {
	defer c.leave(f)
	if !c.wait(w, r, f, leads) {
		c.stats.Abandoned.Add(1)
		panic(http.ErrAbortHandler) // without an answer net/http would send an empty one
	}
	return c.follow(w, r, asked, f, leads)
}

// wait waits for the result of a flight, and sends interim answers to the leader. It returns false if the client has
// gone.
func (c *Cache) wait(w http.ResponseWriter, r *http.Request, f *flight, leads bool) bool {
	var interims chan interim
	if leads {
		interims = f.interim
	}
	for {
		select {
		case i := <-interims:
			sendInterim(w, r, i)
		case <-f.ready:
			for len(interims) > 0 {
				sendInterim(w, r, <-interims)
			}
			return true
		case <-r.Context().Done():
			if leads {
				c.tasks.Go(func() { release(f) })
			}
			return false
		}
	}
}

// release frees what a flight has for its leader, who has gone.
func release(f *flight) {
	<-f.ready
	if f.first != nil {
		_ = f.first.Close()
	}
	if f.alone != nil {
		_ = f.alone.Body.Close()
		f.cancel()
	}
	if f.only {
		if content, err := f.answer.body.open(); err == nil {
			content.close()
		}
	}
}

// sendInterim passes on an interim answer.
func sendInterim(w http.ResponseWriter, r *http.Request, i interim) {
	if !r.ProtoAtLeast(1, 1) || hop.Mend(i.header) != nil {
		return
	}
	hop.Remove(i.header)
	h := w.Header()
	for name, values := range i.header {
		h[name] = values
	}
	w.WriteHeader(i.status)
	clear(h)
}
