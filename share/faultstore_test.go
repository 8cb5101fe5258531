package share_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/share"
)

var errInjected = errors.New("injected")

// disk is a store that can be copied, like a directory, and whose writes can fail.
type disk struct {
	records, objects map[string][]byte
	rng              *rand.Rand
	failing          float64 // the probability that a write fails
	history          *history
}

// history are all heads and objects that were ever written, for carriers that repeat them.
type history struct {
	heads   [][]byte
	objects [][]byte
}

func newDisk(rng *rand.Rand, h *history) *disk {
	return &disk{records: make(map[string][]byte), objects: make(map[string][]byte), rng: rng, history: h}
}

func (d *disk) clone() *disk {
	return &disk{records: maps.Clone(d.records), objects: maps.Clone(d.objects), rng: d.rng, history: d.history}
}

func (d *disk) fails() bool { return d.failing > 0 && d.rng.Float64() < d.failing }

func (d *disk) Record(_ context.Context, name string) ([]byte, error) {
	if b, ok := d.records[name]; ok {
		return b, nil
	}
	return nil, fmt.Errorf("record %s: %w", name, share.ErrNotFound)
}

func (d *disk) Object(_ context.Context, name string, offset int64) (io.ReadCloser, error) {
	b, ok := d.objects[name]
	if !ok {
		return nil, fmt.Errorf("object %s: %w", name, share.ErrNotFound)
	}
	return io.NopCloser(bytes.NewReader(b[min(offset, int64(len(b))):])), nil
}

// PutRecord may fail before it writes, and after it.
func (d *disk) PutRecord(_ context.Context, name string, data []byte) error {
	if d.fails() {
		return errInjected
	}
	d.records[name] = bytes.Clone(data)
	if share.IsHead(name) && d.history != nil {
		d.history.heads = append(d.history.heads, d.records[name])
	}
	if d.fails() {
		return errInjected
	}
	return nil
}

func (d *disk) NewObject(context.Context) (share.Upload, error) {
	if d.fails() {
		return nil, errInjected
	}
	return &diskUpload{d: d}, nil
}

func (d *disk) Objects(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, n := range slices.Sorted(maps.Keys(d.objects)) {
			if !yield(n, nil) {
				return
			}
		}
	}
}

func (d *disk) Remove(_ context.Context, name string) error {
	if d.fails() {
		return errInjected
	}
	delete(d.objects, name)
	return nil
}

type diskUpload struct {
	bytes.Buffer
	d *disk
}

func (u *diskUpload) Commit(_ context.Context, name string) error {
	if u.d.fails() {
		return errInjected
	}
	u.d.objects[name] = u.Bytes()
	if u.d.history != nil {
		u.d.history.objects = append(u.d.history.objects, u.Bytes())
	}
	return nil
}

func (u *diskUpload) Close() error { return nil }

// damage changes a byte of a record or an object, or cuts it off. It reports whether it was a record.
func (d *disk) damage() bool {
	files, isRecord := d.records, true
	if d.rng.IntN(2) == 0 {
		files, isRecord = d.objects, false
	}
	if names := slices.Sorted(maps.Keys(files)); len(names) > 0 {
		name := names[d.rng.IntN(len(names))]
		files[name] = spoil(d.rng, files[name])
	}
	return isRecord
}

// spoil returns damaged bytes.
func spoil(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	switch n := len(b); {
	case n == 0:
		return []byte("x")
	case rng.IntN(3) == 0:
		return b[:rng.IntN(n)]
	case rng.IntN(3) == 0:
		return append(b, b...)
	default:
		b[rng.IntN(n)] ^= 1 << rng.IntN(8)
		return b
	}
}

// carrier is a malicious source: it loses, repeats, damages and exchanges what it carries.
type carrier struct {
	rng     *rand.Rand
	stores  []*disk // of the publishers
	history *history
	faults  float64
	forge   func(record string) []byte // returns a head that another key has signed
}

func (c *carrier) faulty() bool { return c.faults > 0 && c.rng.Float64() < c.faults }

func (c *carrier) store() *disk { return c.stores[c.rng.IntN(len(c.stores))] }

func (c *carrier) Record(ctx context.Context, name string) ([]byte, error) {
	b, err := c.store().Record(ctx, name)
	if err != nil || !c.faulty() {
		return b, err
	}
	switch c.rng.IntN(6) {
	case 0:
		return nil, errInjected
	case 1:
		return spoil(c.rng, b), nil
	case 2: // another head's text with this one's signature
		other := c.history.heads[c.rng.IntN(len(c.history.heads))]
		text, _, _ := strings.Cut(string(other), "\n\n")
		_, signature, _ := strings.Cut(string(b), "\n\n")
		return []byte(text + "\n\n" + signature), nil
	case 3:
		return c.forge(name), nil
	default: // a head of any time
		return c.history.heads[c.rng.IntN(len(c.history.heads))], nil
	}
}

func (c *carrier) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	var body io.ReadCloser
	var err error
	for _, s := range c.stores {
		if body, err = s.Object(ctx, name, offset); err == nil {
			break
		}
	}
	if err != nil || !c.faulty() {
		return body, err
	}
	b, _ := io.ReadAll(body)
	switch c.rng.IntN(6) {
	case 5: // a slow connection
		time.Sleep(time.Duration(c.rng.Int64N(int64(period))))
	case 0:
		return nil, fmt.Errorf("object %s: %w", name, share.ErrNotFound)
	case 1:
		b = c.history.objects[c.rng.IntN(len(c.history.objects))]
	case 2:
		return io.NopCloser(io.MultiReader(bytes.NewReader(b[:c.rng.IntN(len(b)+1)]), failure{})), nil
	default:
		b = spoil(c.rng, b)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// failure is a connection that breaks.
type failure struct{}

func (failure) Read([]byte) (int, error) { return 0, errInjected }
