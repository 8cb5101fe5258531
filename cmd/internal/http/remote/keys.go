package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// Verb is an operation on keys.
type Verb string

// The operations. The answer to a key is 1 for yes and 0 for no; that of Count is a number.
const (
	Add    Verb = "add"
	Has    Verb = "has"
	Remove Verb = "remove"
	Count  Verb = "count"
)

// changes reports whether the operation changes the filter.
func (v Verb) changes() bool { return v == Add || v == Remove }

// BatchKeys is a good number of keys per request: the overhead of a request is then negligible.
const BatchKeys = 16_384

// parallel is the number of concurrent requests, for distant nodes.
const parallel = 4

// Filter is a filter of a node whose hasher was queried. It is safe for concurrent use.
type Filter struct {
	c      *Client
	name   string
	hasher umbel.Hasher
	public bool // the hasher is known
}

// Filter describes a filter and prepares hashing of keys.
func (c *Client) Filter(ctx context.Context, name string) (*Filter, Info, error) {
	i, err := c.Info(ctx, name)
	if err != nil {
		return nil, i, err
	}
	h, public, err := i.Hasher()
	return &Filter{c, name, h, public}, i, err
}

// Hasher returns the filter's hasher; ok is false if the seed is secret.
func (f *Filter) Hasher() (umbel.Hasher, bool) { return f.hasher, f.public }

// digests processes digests in one request and returns the answers. The digests must be made with
// the filter's hasher. If the filter has another hasher by now, it returns an error wrapping
// umbel.ErrMismatch and nothing was processed; after other errors some digests may have been
// processed.
func (f *Filter) digests(ctx context.Context, v Verb, ds []umbel.Digest) ([]uint64, error) {
	b := make([]byte, 0, 16*len(ds))
	for _, d := range ds {
		b = binary.LittleEndian.AppendUint64(b, d.H1)
		b = binary.LittleEndian.AppendUint64(b, d.H2)
	}
	response, err := f.send(ctx, v, api.MediaDigests, b)
	if err != nil {
		return nil, err
	}
	return readAnswers(response, len(ds), v)
}

// send sends a batch. The answers have its media type.
func (f *Filter) send(ctx context.Context, v Verb, media string, body []byte) (*http.Response, error) {
	header := map[string]string{"Content-Type": media}
	if f.public {
		header[api.HeaderHash] = api.HashName(f.hasher)
	}
	if v.changes() {
		header["Prefer"] = preferKept
	}
	return f.c.do(ctx, request{method: http.MethodPost, path: api.FilterPath(f.name, string(v)), header: header, body: bytes.NewReader(body), want: media})
}

// readAnswers reads the answers to n digests. If there are fewer, it returns them with an error.
func readAnswers(response *http.Response, n int, v Verb) ([]uint64, error) {
	defer response.Body.Close()
	width := 1
	if v == Count {
		width = 8
	}
	b, err := io.ReadAll(io.LimitReader(response.Body, int64(n*width)+1))
	if err != nil {
		return nil, err
	}
	out := make([]uint64, min(len(b)/width, n))
	for i := range out {
		if width == 1 {
			out[i] = uint64(b[i])
		} else {
			out[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
	if len(b) != n*width {
		return out, missingAnswers(response, len(b)/width, n)
	}
	return out, nil
}

// missingAnswers returns the reason for missing answers.
func missingAnswers(response *http.Response, got, want int) error {
	if problem := response.Trailer.Get(api.TrailerProblem); problem != "" {
		e := &Error{Node: response.Request.URL.Host}
		if e.read([]byte(problem)); e.Type != "" {
			return e
		}
	}
	return fmt.Errorf("%s returned %d answers to %d keys", response.Request.URL.Host, got, want)
}

// Keys processes keys in one request and returns the answers. It hashes them unless the seed is
// secret.
//
// Add and Remove wait while the node refuses changes, as the changes of Client do. What the node has not changed is sent
// again. The Done of an error counts the keys that were changed and kept; after an error of a connection that broke
// meanwhile, and after the problem not-kept, more may have been changed. If the node added a part of a request before it
// refused the rest and did not send their answers, these are 1; after such a removal the rest is not sent again.
func (f *Filter) Keys(ctx context.Context, v Verb, keys [][]byte) ([]uint64, error) {
	if v.changes() {
		return f.change(ctx, v, keys)
	}
	return f.once(ctx, v, keys)
}

// once is Keys without repetitions. With an error it returns the answers that have arrived.
func (f *Filter) once(ctx context.Context, v Verb, list [][]byte) ([]uint64, error) {
	if f.public {
		ds := make([]umbel.Digest, len(list))
		for i, k := range list {
			var err error
			if ds[i], err = keys.Digest(f.hasher, k); err != nil {
				return nil, err
			}
		}
		return f.digests(ctx, v, ds)
	}
	var b []byte
	for _, k := range list {
		b = appendKey(b, k)
	}
	response, err := f.send(ctx, v, api.MediaLines, b)
	if err != nil {
		return nil, err
	}
	return readLines(response, len(list))
}

// appendKey appends a line of JSON.
func appendKey(b, key []byte) []byte {
	if utf8.Valid(key) {
		line, _ := json.Marshal(string(key)) // text
		return append(append(b, line...), '\n')
	}
	b = append(b, `{"base64":"`...)
	b = base64.StdEncoding.AppendEncode(b, key)
	return append(b, "\"}\n"...)
}

// readLines is readAnswers for keys that were sent as lines of JSON.
func readLines(response *http.Response, n int) ([]uint64, error) {
	defer response.Body.Close()
	const longest = 21 // a number and its newline
	b, err := io.ReadAll(io.LimitReader(response.Body, int64(n)*longest+maxProblem))
	if err != nil {
		return nil, err
	}
	out := make([]uint64, 0, n)
	for line := range strings.Lines(string(b)) {
		switch line = strings.TrimSpace(line); line {
		case "true":
			out = append(out, 1)
		case "false":
			out = append(out, 0)
		default:
			count, err := strconv.ParseUint(line, 10, 64)
			if err != nil {
				return out, missingAnswers(response, len(out), n)
			}
			out = append(out, count)
		}
	}
	if len(out) != n {
		return out, missingAnswers(response, len(out), n)
	}
	return out, nil
}

// Each processes many keys in batches with several concurrent requests. It calls answered, which
// may be nil, with the keys of each batch and their answers, in order. A batch must stay valid
// until the next one is requested; the arguments of answered are valid during the call. Each
// stops at the first error of batches, a request or answered. It does not wait for batches to
// return.
func (f *Filter) Each(ctx context.Context, v Verb, batches iter.Seq2[[][]byte, error], answered func(keys [][]byte, ns []uint64) error) error {
	return each(ctx, v, f.Keys, batches, answered)
}

// keysFunc is Filter.Keys.
type keysFunc func(ctx context.Context, v Verb, keys [][]byte) ([]uint64, error)

// each is Filter.Each with requests by run.
func each(ctx context.Context, v Verb, run keysFunc, batches iter.Seq2[[][]byte, error], answered func(keys [][]byte, ns []uint64) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	sent := make(chan *batch, parallel-1)
	go sendAll(ctx, v, run, batches, sent)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b, more := <-sent:
			if !more {
				return ctx.Err()
			}
			if err := b.deliver(answered); err != nil {
				return err
			}
		}
	}
}

// sendAll sends requests, and passes each to the receiver of sent.
func sendAll(ctx context.Context, v Verb, run keysFunc, batches iter.Seq2[[][]byte, error], sent chan<- *batch) {
	defer close(sent)
	for list, err := range batches {
		b := &batch{keys: cloneKeys(list), done: make(chan struct{}), err: err}
		select {
		case sent <- b:
		case <-ctx.Done():
			return
		}
		if err != nil {
			close(b.done)
			return
		}
		go func() {
			defer close(b.done)
			b.answers, b.err = run(ctx, v, b.keys)
		}()
	}
}

// batch is the keys of one request, and their answers once done is closed.
type batch struct {
	keys    [][]byte
	done    chan struct{}
	answers []uint64
	err     error
}

// deliver waits for the answers and passes them on.
func (b *batch) deliver(answered func([][]byte, []uint64) error) error {
	if <-b.done; b.err != nil || answered == nil {
		return b.err
	}
	return answered(b.keys, b.answers)
}

// cloneKeys returns copies of a list of keys, and of their lines, in one allocation.
func cloneKeys(list [][]byte) [][]byte {
	size := 0
	for _, k := range list {
		size += len(keys.Line(k))
	}
	all, out := make([]byte, 0, size), make([][]byte, len(list))
	for i, k := range list {
		from := len(all)
		all = append(all, keys.Line(k)...)
		out[i] = all[from : from+len(k) : len(all)]
	}
	return out
}
