package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
	"golang.org/x/sync/errgroup"
)

// Verb is what is done with keys.
type Verb string

// The verbs. The answer to a key is 1 for yes and 0 for no; that of Count is a number.
const (
	Add    Verb = "add"
	Has    Verb = "has"
	Remove Verb = "remove"
	Count  Verb = "count"
)

const (
	// batchKeys and batchBytes are how much goes in one request: enough that its cost
	// doesn't show.
	batchKeys  = 16_384
	batchBytes = 1 << 20
	// parallel is how many requests are under way at once, for nodes that are far away.
	parallel = 4
)

// Filter is a filter of a node of which it is known how it hashes. Its methods may be
// called concurrently.
type Filter struct {
	c      *Client
	name   string
	hasher umbel.Hasher
	public bool // the hasher is known here
}

// Filter asks what the filter is, so that keys can be hashed here.
func (c *Client) Filter(ctx context.Context, name string) (*Filter, Info, error) {
	i, err := c.Info(ctx, name)
	if err != nil {
		return nil, i, err
	}
	h, public, err := i.Hasher()
	return &Filter{c, name, h, public}, i, err
}

// Hasher returns how the filter hashes, and false if that is the node's secret.
func (f *Filter) Hasher() (umbel.Hasher, bool) { return f.hasher, f.public }

// Digests does one thing with digests and returns the answers, in one request. They must
// be made with the filter's hasher; if it hashes otherwise by now, the error wraps
// umbel.ErrMismatch and nothing was done. On another error some may have been.
func (f *Filter) Digests(ctx context.Context, v Verb, ds []umbel.Digest) ([]uint64, error) {
	b := make([]byte, 0, 16*len(ds))
	for _, d := range ds {
		b = binary.LittleEndian.AppendUint64(b, d.H1)
		b = binary.LittleEndian.AppendUint64(b, d.H2)
	}
	answer, err := f.ask(ctx, v, mediaDigests, b)
	if err != nil {
		return nil, err
	}
	return readAnswers(answer, len(ds), v)
}

// ask sends a batch.
func (f *Filter) ask(ctx context.Context, v Verb, media string, body []byte) (*http.Response, error) {
	header := map[string]string{"Content-Type": media}
	if f.public {
		header["Umbel-Hash"] = hashName(f.hasher)
	}
	return f.c.do(ctx, call{method: http.MethodPost, path: path(f.name, string(v)), header: header, body: bytes.NewReader(body)})
}

// hashName says how digests were made.
func hashName(h umbel.Hasher) string {
	if h.Seed == (umbel.Seed{}) {
		return h.Alg.String()
	}
	seed := h.Seed.Bytes()
	return h.Alg.String() + ";seed=" + hex.EncodeToString(seed[:])
}

// readAnswers reads the answers to n digests.
func readAnswers(answer *http.Response, n int, v Verb) ([]uint64, error) {
	defer answer.Body.Close()
	width := 1
	if v == Count {
		width = 8
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, int64(n*width)+1))
	if err != nil {
		return nil, err
	}
	if len(b) != n*width {
		return nil, short(answer, len(b)/width, n)
	}
	out := make([]uint64, n)
	for i := range out {
		if width == 1 {
			out[i] = uint64(b[i])
		} else {
			out[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
	return out, nil
}

// short returns why there are fewer answers than keys.
func short(answer *http.Response, got, want int) error {
	if said := answer.Trailer.Get("Umbel-Problem"); said != "" {
		e := &Error{}
		if e.read([]byte(said)); e.Type != "" {
			return e
		}
	}
	return fmt.Errorf("%s gave %d answers to %d keys", answer.Request.URL.Host, got, want)
}

// Keys does one thing with keys and returns the answers, in one request. Keys are hashed
// here unless the filter's hash is the node's secret.
func (f *Filter) Keys(ctx context.Context, v Verb, keys [][]byte) ([]uint64, error) {
	if f.public {
		ds := make([]umbel.Digest, len(keys))
		for i, k := range keys {
			var err error
			if ds[i], err = digest(f.hasher, k); err != nil {
				return nil, err
			}
		}
		return f.Digests(ctx, v, ds)
	}
	var b []byte
	for _, k := range keys {
		b = appendKey(b, k)
	}
	answer, err := f.ask(ctx, v, mediaLines, b)
	if err != nil {
		return nil, err
	}
	return readLines(answer, len(keys))
}

// digest returns the digest of a key as the user writes it.
func digest(h umbel.Hasher, key []byte) (umbel.Digest, error) {
	if h.Alg == umbel.Caller {
		return umbel.ParseDigest(string(key))
	}
	return h.Bytes(key), nil
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

// readLines reads the answers to n keys that are lines of JSON.
func readLines(answer *http.Response, n int) ([]uint64, error) {
	defer answer.Body.Close()
	const longest = 21 // of a number, and its newline
	b, err := io.ReadAll(io.LimitReader(answer.Body, int64(n)*longest+maxProblem))
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
				return nil, short(answer, len(out), n)
			}
			out = append(out, count)
		}
	}
	if len(out) != n {
		return nil, short(answer, len(out), n)
	}
	return out, nil
}

// Each does one thing with all keys, in requests of many keys of which some are under way
// at once, and calls answered with each key and its answer, in order; nil if nobody asks.
// A key that keys yields must be valid until the next is; the key that answered gets is
// valid during the call. It stops at the first error: of keys, a request, or answered.
func (f *Filter) Each(ctx context.Context, v Verb, keys iter.Seq2[[]byte, error], answered func(key []byte, n uint64) error) error {
	g, ctx := errgroup.WithContext(ctx)
	asked := make(chan *batch, parallel-1)
	g.Go(func() error {
		defer close(asked)
		for b, err := range batches(keys) {
			if err != nil {
				return err
			}
			b.done = make(chan struct{})
			select {
			case asked <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
			g.Go(func() error {
				defer close(b.done)
				b.answers, b.err = f.Keys(ctx, v, b.keys)
				return nil // the reader of asked comes upon it in its turn
			})
		}
		return nil
	})
	g.Go(func() error {
		for b := range asked {
			<-b.done
			if b.err != nil {
				return b.err
			}
			for i, n := range b.answers {
				if answered == nil {
					break
				}
				if err := answered(b.keys[i], n); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return g.Wait()
}

// batch is the keys of one request, and their answers.
type batch struct {
	keys    [][]byte
	bytes   []byte
	done    chan struct{}
	answers []uint64
	err     error
}

// batches cuts keys into batches, which have copies of them.
func batches(keys iter.Seq2[[]byte, error]) iter.Seq2[*batch, error] {
	return func(yield func(*batch, error) bool) {
		b := &batch{}
		for k, err := range keys {
			if err != nil {
				yield(nil, err)
				return
			}
			from := len(b.bytes)
			b.bytes = append(b.bytes, k...) // keys before stay where they were
			b.keys = append(b.keys, b.bytes[from:len(b.bytes):len(b.bytes)])
			if len(b.keys) == batchKeys || len(b.bytes) >= batchBytes {
				if !yield(b, nil) {
					return
				}
				b = &batch{}
			}
		}
		if len(b.keys) > 0 {
			yield(b, nil)
		}
	}
}
