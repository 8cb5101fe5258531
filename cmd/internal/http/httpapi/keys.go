package httpapi

import (
	"math"
	"net/http"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// batchKeys is the number of keys per call of the engine: large enough to overlap cache misses,
// small enough to let other requests run in between.
const batchKeys = 4096

// verb is what is done with each key.
type verb struct {
	counts bool // the answer to a key is a number
	adds   bool // the filter may become overfull
	run    func(*engine.Batch, *engine.Filter) (engine.Position, error)
}

var (
	addKeys    = verb{run: (*engine.Batch).Add, adds: true}
	hasKeys    = verb{run: (*engine.Batch).Has}
	removeKeys = verb{run: (*engine.Batch).Remove}
	countKeys  = verb{run: (*engine.Batch).Count, counts: true}
)

// batch returns a batch with memory for the answers to n keys.
func (op verb) batch(n int) engine.Batch {
	if op.counts {
		return engine.Batch{Counts: make([]uint64, 0, n)}
	}
	return engine.Batch{Answers: make([]bool, 0, n)}
}

// serve answers a request with keys: one JSON value as a whole, other media types as a stream.
func (op verb) serve(req *request) error {
	media, err := bodyType(req.http, api.MediaJSON, api.MediaLines, api.MediaText, api.MediaDigests)
	if err != nil {
		return err
	}
	f, err := req.filter()
	if err != nil {
		return err
	}
	if err := req.checkHasher(f.Hasher()); err != nil {
		return err
	}
	if media == api.MediaDigests {
		if err := req.requireSeedAccess(f.Hasher(), req.name); err != nil {
			return err
		}
	}
	if media == api.MediaJSON {
		return op.serveJSON(req, f)
	}
	return op.serveStream(req, f, codecs[media])
}

// checkHasher returns an error if the request names a hasher other than h for its digests. It
// protects a client whose filter was replaced by another.
func (req *request) checkHasher(h umbel.Hasher) error {
	if said := req.http.Header.Get(api.HeaderHash); said != "" && said != api.HashName(h) {
		return sentinel.Errorf(umbel.ErrMismatch, "the digests were made with %q, but the filter has another hasher; get its description again", said)
	}
	return nil
}

// keyDigest returns the digest of a key. If the filter's keys are digests already, key must be 32
// hexadecimal digits.
func keyDigest(h umbel.Hasher, key []byte) (umbel.Digest, error) {
	if h.Alg != umbel.Caller {
		return h.HashBytes(key), nil
	}
	d, err := umbel.ParseDigest(string(key))
	if err != nil {
		return d, problemf(badRequest, "the filter accepts only digests: %w", err)
	}
	return d, nil
}

// addTotals adds the answers of a batch.
func (op verb) addTotals(s *api.Totals, b *engine.Batch) {
	s.Keys += uint64(b.N)
	if op.counts {
		for _, n := range b.Counts[:b.N] {
			if n > 0 {
				s.Yes++
			}
			s.Sum += min(n, math.MaxUint64-s.Sum)
		}
		return
	}
	for _, yes := range b.Answers[:b.N] {
		if yes {
			s.Yes++
		}
	}
}

// serveJSON answers keys that are one JSON value. It reads all of it before it changes the filter.
func (op verb) serveJSON(req *request, f *engine.Filter) error {
	in := keyListReader{
		from: req.limitedBody(req.MaxBody), hasher: f.Hasher(), take: req.share.Take,
		allowed: func() error { return req.requireSeedAccess(f.Hasher(), req.name) },
	}
	list, err := in.read()
	if err != nil {
		return err
	}
	pieces, minimal := list.all(), prefersMinimal(req.http)
	var all engine.Batch // answers to all keys
	if !minimal {
		if all, err = op.reserved(pieces, req.share.Take); err != nil {
			return err
		}
	}
	sum, pos, err := op.processAll(f, pieces, func(b *engine.Batch) {
		switch {
		case minimal:
		case op.counts:
			all.Counts = append(all.Counts, b.Counts[:b.N]...)
		default:
			all.Answers = append(all.Answers, b.Answers[:b.N]...)
		}
	})
	if keptErr := req.waitDurable(pos); keptErr != nil {
		err = keptErr
	}
	if err != nil {
		return partialError{err, sum.Keys}
	}
	if minimal {
		return op.respondTotals(req, f, sum)
	}
	return op.respondAnswers(req, &all)
}

// reserved is batch for the answers to all keys, after take.
func (op verb) reserved(pieces digestList, take func(int) error) (engine.Batch, error) {
	n, size := 0, 1
	for _, ds := range pieces {
		n += len(ds)
	}
	if op.counts {
		size = 8
	}
	if err := take(size * n); err != nil {
		return engine.Batch{}, err
	}
	return op.batch(n), nil
}

// processAll runs the operation on all digests and calls each after each batch.
func (op verb) processAll(f *engine.Filter, pieces digestList, each func(*engine.Batch)) (sum api.Totals, pos engine.Position, err error) {
	b := op.batch(batchKeys)
	for _, b.Digests = range pieces {
		at, err := op.run(&b, f)
		pos = max(pos, at)
		op.addTotals(&sum, &b)
		each(&b)
		if err != nil {
			return sum, pos, err
		}
	}
	return sum, pos, nil
}

// respondAnswers responds with {"answers": […]}, in pieces.
func (op verb) respondAnswers(req *request, b *engine.Batch) error {
	h := req.Header()
	h.Set("Content-Type", api.MediaJSON)
	h.Set("Cache-Control", "no-store")
	req.WriteHeader(http.StatusOK)
	out := append(make([]byte, 0, 4<<10), `{"answers":[`...)
	n := len(b.Answers) + len(b.Counts)
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		if op.counts {
			out = strconv.AppendUint(out, b.Counts[i], 10)
		} else {
			out = strconv.AppendBool(out, b.Answers[i])
		}
		if len(out) > cap(out)-32 {
			if _, err := req.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	_, err := req.Write(append(out, "]}\n"...))
	return err
}

// respondTotals responds with the totals only, and with whether additions made the filter overfull.
func (op verb) respondTotals(req *request, f *engine.Filter, s api.Totals) error {
	s.Overfull = op.adds && f.FindOverfull()
	req.Header().Set("Preference-Applied", "return=minimal")
	return writeJSON(req.response, http.StatusOK, s)
}
