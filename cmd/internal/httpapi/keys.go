package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/api"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// batchKeys is the number of keys per call of the engine: large enough to overlap cache misses,
// small enough to let other requests run in between.
const batchKeys = 4096

// operation is what is done with each key.
type operation struct {
	counts bool // the answer to a key is a number
	run    func(f *engine.Filter, b *batch) (engine.Position, error)
}

// batch is a list of keys and their answers. After an error the first n have an answer.
type batch struct {
	ds     []umbel.Digest
	n      int
	yes    []bool
	counts []uint64
}

var (
	addKeys = operation{run: func(f *engine.Filter, b *batch) (pos engine.Position, err error) {
		b.n, pos, err = f.Add(b.yes, b.ds)
		return pos, err
	}}
	hasKeys = operation{run: func(f *engine.Filter, b *batch) (engine.Position, error) {
		f.Has(b.yes, b.ds)
		b.n = len(b.ds)
		return 0, nil
	}}
	removeKeys = operation{run: func(f *engine.Filter, b *batch) (engine.Position, error) {
		pos, err := f.Remove(b.yes, b.ds)
		if err == nil {
			b.n = len(b.ds)
		}
		return pos, err
	}}
	countKeys = operation{counts: true, run: func(f *engine.Filter, b *batch) (engine.Position, error) {
		err := f.Count(b.counts, b.ds)
		if err == nil {
			b.n = len(b.ds)
		}
		return 0, err
	}}
)

// process runs the operation on b.ds. The first b.n keys have answers, also on an error.
func (op operation) process(f *engine.Filter, b *batch) (engine.Position, error) {
	b.n = 0
	if n := len(b.ds); op.counts {
		b.counts = grown(b.counts, n)
	} else {
		b.yes = grown(b.yes, n)
	}
	return op.run(f, b)
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n, max(n, batchKeys))
	}
	return s[:n]
}

// serve answers a request with keys: one JSON value as a whole, other media types as a stream.
func (op operation) serve(req *request) error {
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
		return fmt.Errorf("the digests were made with %q, but the filter has another hasher; get its description again: %w", said, umbel.ErrMismatch)
	}
	return nil
}

// keyDigests returns the digests of the keys.
func keyDigests(l api.KeyList, h umbel.Hasher) ([]umbel.Digest, error) {
	ds := make([]umbel.Digest, 0, len(l.Keys)+len(l.Base64)+len(l.Digests))
	for i, k := range l.Keys {
		d, err := keyDigest(h, []byte(k))
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
		ds = append(ds, d)
	}
	var key []byte
	for i, k := range l.Base64 {
		var err error
		if key, err = base64.StdEncoding.AppendDecode(key[:0], []byte(k)); err != nil {
			return nil, problemf(badRequest, "key %d: %w", i, err)
		}
		d, err := keyDigest(h, key)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
		ds = append(ds, d)
	}
	for i, k := range l.Digests {
		d, err := umbel.ParseDigest(k)
		if err != nil {
			return nil, problemf(badRequest, "digest %d: %w", i, err)
		}
		ds = append(ds, d)
	}
	return ds, nil
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

// answers are the answers of one request.
type answers struct {
	Answers any `json:"answers"` // []bool or []uint64
}

// addTotals adds the answers of a batch.
func (op operation) addTotals(s *api.Totals, b *batch) {
	s.Keys += uint64(b.n)
	if op.counts {
		for _, n := range b.counts[:b.n] {
			if n > 0 {
				s.Yes++
			}
			s.Sum += min(n, math.MaxUint64-s.Sum)
		}
		return
	}
	for _, yes := range b.yes[:b.n] {
		if yes {
			s.Yes++
		}
	}
}

// serveJSON answers keys that are one JSON value.
func (op operation) serveJSON(req *request, f *engine.Filter) error {
	body, err := io.ReadAll(req.limitedBody())
	if err != nil {
		return bodyError(err)
	}
	if !utf8.Valid(body) {
		return problemf(badRequest, "the body is not UTF-8; send binary keys as base64")
	}
	var list api.KeyList
	if err := json.Unmarshal(body, &list); err != nil {
		return bodyError(err)
	}
	if list.Keys == nil && list.Base64 == nil && list.Digests == nil {
		return problemf(badRequest, `keys are missing; send {"keys": ["a", "b"]}, or use base64 or digests`)
	}
	if len(list.Digests) > 0 {
		if err := req.requireSeedAccess(f.Hasher(), req.name); err != nil {
			return err
		}
	}
	ds, err := keyDigests(list, f.Hasher())
	if err != nil {
		return err
	}
	a, sum, pos, err := op.processAll(f, ds)
	if keptErr := req.waitDurable(pos); keptErr != nil {
		err = keptErr
	}
	if err != nil {
		return partialError{err, sum.Keys}
	}
	if prefersMinimal(req.http) {
		return req.respondTotals(sum)
	}
	return writeJSON(req.response, http.StatusOK, a)
}

// processAll runs the operation on all digests in batches.
func (op operation) processAll(f *engine.Filter, ds []umbel.Digest) (a answers, sum api.Totals, pos engine.Position, err error) {
	var b batch
	yes, counts := make([]bool, 0, len(ds)), []uint64{}
	for len(ds) > 0 && err == nil {
		n := min(len(ds), batchKeys)
		b.ds, ds = ds[:n], ds[n:]
		var at engine.Position
		at, err = op.process(f, &b)
		pos = max(pos, at)
		op.addTotals(&sum, &b)
		if op.counts {
			counts = append(counts, b.counts[:b.n]...)
		} else {
			yes = append(yes, b.yes[:b.n]...)
		}
	}
	a.Answers = yes
	if op.counts {
		a.Answers = counts
	}
	return a, sum, pos, err
}

// respondTotals responds with the totals only.
func (req *request) respondTotals(s api.Totals) error {
	req.Header().Set("Preference-Applied", "return=minimal")
	return writeJSON(req.response, http.StatusOK, s)
}

// cannot returns an error that says that f's kind does not support an operation.
func cannot(f umbel.Filter, what string) error {
	return fmt.Errorf("kind %s %s: %w", f.State().Kind, what, errors.ErrUnsupported)
}
