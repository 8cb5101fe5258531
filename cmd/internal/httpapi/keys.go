package httpapi

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// batchKeys is how many keys go to the engine at once: enough for it to overlap their
// cache misses, few enough that others get their turn.
const batchKeys = 4096

// verb is what is done with each key.
type verb struct {
	counts bool // the answer of a key is a number
	run    func(f *engine.Filter, b *batch) (engine.Position, error)
}

// batch is keys and their answers. On an error the first n have one.
type batch struct {
	ds     []umbel.Digest
	n      int
	yes    []bool
	counts []uint64
}

var (
	addKeys = verb{run: func(f *engine.Filter, b *batch) (pos engine.Position, err error) {
		b.n, pos, err = f.Add(b.yes, b.ds)
		return pos, err
	}}
	hasKeys = verb{run: func(f *engine.Filter, b *batch) (engine.Position, error) {
		f.Has(b.yes, b.ds)
		b.n = len(b.ds)
		return 0, nil
	}}
	removeKeys = verb{run: func(f *engine.Filter, b *batch) (engine.Position, error) {
		pos, err := f.Remove(b.yes, b.ds)
		if err == nil {
			b.n = len(b.ds)
		}
		return pos, err
	}}
	countKeys = verb{counts: true, run: func(f *engine.Filter, b *batch) (engine.Position, error) {
		err := f.Count(b.counts, b.ds)
		if err == nil {
			b.n = len(b.ds)
		}
		return 0, err
	}}
)

// do runs the verb on b.ds. The answers of the first b.n are there, also on an error.
func (v verb) do(f *engine.Filter, b *batch) (engine.Position, error) {
	b.n = 0
	if n := len(b.ds); v.counts {
		b.counts = grown(b.counts, n)
	} else {
		b.yes = grown(b.yes, n)
	}
	return v.run(f, b)
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n, max(n, batchKeys))
	}
	return s[:n]
}

// serve answers a request with keys: at once if they come as JSON, otherwise as they come.
func (v verb) serve(c *call) error {
	media, err := bodyType(c.request, mediaJSON, mediaLines, mediaText, mediaDigests)
	if err != nil {
		return err
	}
	f, err := c.filter()
	if err != nil {
		return err
	}
	if err := c.madeWith(f.Hasher()); err != nil {
		return err
	}
	if media == mediaDigests {
		if err := c.maySee(f.Hasher(), c.name); err != nil {
			return err
		}
	}
	if media == mediaJSON {
		return v.once(c, f)
	}
	return v.stream(c, f, codecs[media])
}

// headerHash is the header in which a client that sends digests may say how it made them,
// so that it can't ask a filter that has taken the place of the one it knew.
const headerHash = "Umbel-Hash"

// madeWith returns an error unless the client's digests, if it says how they were made,
// were made with h.
func (c *call) madeWith(h umbel.Hasher) error {
	if said := c.request.Header.Get(headerHash); said != "" && said != hashName(h) {
		return fmt.Errorf("the digests were made with %q, the filter hashes in another way: ask what it is again: %w", said, umbel.ErrMismatch)
	}
	return nil
}

// hashName returns what headerHash has for a hasher.
func hashName(h umbel.Hasher) string {
	if h.Seed == (umbel.Seed{}) {
		return h.Alg.String()
	}
	seed := h.Seed.Bytes()
	return h.Alg.String() + ";seed=" + hex.EncodeToString(seed[:])
}

// keyList is keys in JSON.
type keyList struct {
	Keys    []string `json:"keys"`
	Base64  []string `json:"base64"`
	Digests []string `json:"digests"` // 32 hexadecimal digits each
}

// digests returns the digests of the keys.
func (l keyList) digests(h umbel.Hasher) ([]umbel.Digest, error) {
	ds := make([]umbel.Digest, 0, len(l.Keys)+len(l.Base64)+len(l.Digests))
	for i, k := range l.Keys {
		d, err := digest(h, []byte(k))
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
		d, err := digest(h, key)
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

// digest returns the digest of a key as a client writes it: its hash, or, where digests
// come ready, the 32 hexadecimal digits read as one.
func digest(h umbel.Hasher, key []byte) (umbel.Digest, error) {
	if h.Alg != umbel.Caller {
		return h.HashBytes(key), nil
	}
	d, err := umbel.ParseDigest(string(key))
	if err != nil {
		return d, problemf(badRequest, "the filter takes digests, not keys: %w", err)
	}
	return d, nil
}

// answers are those of one request.
type answers struct {
	Answers any `json:"answers"` // a list of bool, or of numbers
}

// sums are what is said of the keys of one request together.
type sums struct {
	Keys uint64 `json:"keys"`
	Yes  uint64 `json:"yes"`           // of those, answered with yes, or with a number above 0
	Sum  uint64 `json:"sum,omitempty"` // of the numbers
}

// add counts the answers of a batch.
func (s *sums) add(v verb, b *batch) {
	s.Keys += uint64(b.n)
	if v.counts {
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

// once answers keys that came as one JSON value.
func (v verb) once(c *call, f *engine.Filter) error {
	body, err := io.ReadAll(c.limited())
	if err != nil {
		return unread(err)
	}
	if !utf8.Valid(body) {
		return problemf(badRequest, "the body isn't UTF-8: send keys that aren't text as base64")
	}
	var list keyList
	if err := json.Unmarshal(body, &list); err != nil {
		return unread(err)
	}
	if list.Keys == nil && list.Base64 == nil && list.Digests == nil {
		return problemf(badRequest, `give keys, as in {"keys": ["a", "b"]}, or base64 or digests in their place`)
	}
	if len(list.Digests) > 0 {
		if err := c.maySee(f.Hasher(), c.name); err != nil {
			return err
		}
	}
	ds, err := list.digests(f.Hasher())
	if err != nil {
		return err
	}
	a, sum, pos, err := v.all(f, ds)
	if keptErr := c.kept(pos); keptErr != nil {
		err = keptErr
	}
	if err != nil {
		return partial{err, sum.Keys}
	}
	if prefersMinimal(c.request) {
		return c.minimal(sum)
	}
	return writeJSON(c.answer, http.StatusOK, a)
}

// all runs the verb on all digests, some at a time.
func (v verb) all(f *engine.Filter, ds []umbel.Digest) (a answers, sum sums, pos engine.Position, err error) {
	var b batch
	yes, counts := make([]bool, 0, len(ds)), []uint64{}
	for len(ds) > 0 && err == nil {
		n := min(len(ds), batchKeys)
		b.ds, ds = ds[:n], ds[n:]
		var at engine.Position
		at, err = v.do(f, &b)
		pos = max(pos, at)
		sum.add(v, &b)
		if v.counts {
			counts = append(counts, b.counts[:b.n]...)
		} else {
			yes = append(yes, b.yes[:b.n]...)
		}
	}
	a.Answers = yes
	if v.counts {
		a.Answers = counts
	}
	return a, sum, pos, err
}

// minimal answers with what is to be said of all keys together.
func (c *call) minimal(s sums) error {
	c.Header().Set("Preference-Applied", "return=minimal")
	return writeJSON(c.answer, http.StatusOK, s)
}

// cannot says that a filter's kind can't do what is asked of it.
func cannot(f umbel.Filter, what string) error {
	return fmt.Errorf("a filter of kind %s %s: %w", f.State().Kind, what, errors.ErrUnsupported)
}
