package remote

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
)

// Split is a split filter, whose filters are on the nodes of a slot map, or on one node without one: spec/split.md. It is safe
// for concurrent use.
type Split struct {
	name    string
	hasher  umbel.Hasher
	filters []*Filter
}

// OnSplit calls do for each filter of a split filter with n, with its number, the client of its node and its name, until do returns an
// error.
func (c *Client) OnSplit(ctx context.Context, name string, n int, do func(i int, node *Client, name string) error) error {
	return c.onSplit(ctx, name, n, n, do)
}

// onSplit is OnSplit for the first most filters.
func (c *Client) onSplit(ctx context.Context, name string, n, most int, do func(i int, node *Client, name string) error) error {
	if err := slots.CheckSplit(name, n); err != nil {
		return err
	}
	cluster, err := c.Cluster(ctx)
	for i := 0; i < most && err == nil; i++ {
		part := slots.SplitName(name, i, n)
		var node *Client
		if node, err = cluster.Of(ctx, part); err == nil {
			err = do(i, node, part)
		}
	}
	return err
}

// Split describes a split filter with n filters, and prepares hashing of keys. The Info is that of all filters together: sums of
// bytes, cells and keys, and means of rates.
func (c *Client) Split(ctx context.Context, name string, n int) (*Split, Info, error) {
	s, all := &Split{name: name}, Info{Name: name}
	err := c.OnSplit(ctx, name, n, func(i int, node *Client, part string) error {
		f, in, err := node.Filter(ctx, part)
		if err != nil {
			return err
		}
		h, public := f.Hasher()
		switch {
		case !public:
			return fmt.Errorf("the seed of %s is secret, so that a client cannot know which filter has a key; make it with --hash xxh3, or use it as "+
				"an administrator", part)
		case i > 0 && h != s.hasher:
			return fmt.Errorf("the hash of %s differs from that of the filters before it; all must be made with the same hash and seed", part)
		}
		s.hasher, s.filters = h, append(s.filters, f)
		all.add(in, n)
		return nil
	})
	return s, all, err
}

// add adds the description of one of n filters.
func (t *Info) add(in Info, n int) {
	if t.Kind == "" {
		t.Kind, t.K, t.Can, t.Hash, t.Params = in.Kind, in.K, in.Can, in.Hash, in.Params
		if in.Planned != nil {
			t.Planned = &api.Planned{FPRate: in.Planned.FPRate}
		}
	}
	t.FPRate += in.FPRate / api.Float(n)
	t.Fill += in.Fill / api.Float(n)
	t.Bytes += in.Bytes
	t.Cells += in.Cells
	t.Keys.Estimate += in.Keys.Estimate
	t.Keys.Low += in.Keys.Low
	t.Keys.High += in.Keys.High
	if t.Planned != nil && in.Planned != nil {
		t.Planned.Keys += in.Planned.Keys
		t.Planned.Overfull = t.Planned.Overfull || in.Planned.Overfull
	}
}

// errSecretDefault means that nodes make filters with seeds of their own.
var errSecretDefault = errors.New("new filters of the node have a secret seed, so that clients could not know which filter has a key; give --hash xxh3")

// MakeSplit makes a split filter with n empty filters. A goal of spec is that of all together: each is made for its share of the keys and
// four standard deviations more. If one cannot be made, those that were are deleted.
func (c *Client) MakeSplit(ctx context.Context, name string, n int, spec api.FilterSpec) error {
	if n > 1 && spec.Keys > 0 {
		mean := float64(spec.Keys) / float64(n)
		spec.Keys = api.Whole(mean + 4*math.Sqrt(mean) + 1)
	}
	spec.Bytes = (spec.Bytes + api.Whole(n) - 1) / api.Whole(max(n, 1))
	made := 0
	err := c.OnSplit(ctx, name, n, func(i int, node *Client, part string) error {
		in, err := node.Make(ctx, part, spec)
		if err != nil {
			return err
		}
		made++
		if i > 0 {
			return nil
		}
		h, public, err := in.Hasher() // the default may differ between nodes
		if err == nil && (!public || in.SecretSeed && spec.Seed == nil) {
			err = errSecretDefault
		}
		if spec.Hash = h.Alg.String(); h.Seed != (umbel.Seed{}) {
			seed := h.Seed.String()
			spec.Seed = &seed
		}
		return err
	})
	if err != nil && made > 0 {
		err = errors.Join(err, c.deleteFirst(context.WithoutCancel(ctx), name, n, made))
	}
	return err
}

// DeleteSplit deletes all filters of a split filter with n.
func (c *Client) DeleteSplit(ctx context.Context, name string, n int) error {
	return c.deleteFirst(ctx, name, n, n)
}

func (c *Client) deleteFirst(ctx context.Context, name string, n, most int) error {
	return c.onSplit(ctx, name, n, most, func(_ int, node *Client, part string) error { return node.Delete(ctx, part) })
}

// Seal seals all filters, which have a kind that is sealed.
func (s *Split) Seal(ctx context.Context) error {
	for _, f := range s.filters {
		if _, err := f.c.Do(ctx, f.name, operation.Seal, umbel.Number{}); err != nil {
			return err
		}
	}
	return nil
}

// Keys is Filter.Keys, with one request to each filter that has some of the keys, all at the same time. After an error, some of the keys
// may have been changed.
func (s *Split) Keys(ctx context.Context, v Verb, list [][]byte) ([]uint64, error) {
	type portion struct {
		keys    [][]byte
		at      []int // in list
		answers []uint64
		err     error
	}
	portions := make([]portion, len(s.filters))
	for i, key := range list {
		d, err := keys.Digest(s.hasher, key)
		if err != nil {
			return nil, err
		}
		p := &portions[d.Split(uint64(len(s.filters)))]
		p.keys, p.at = append(p.keys, key), append(p.at, i)
	}
	var all sync.WaitGroup
	for i := range portions {
		if p := &portions[i]; len(p.keys) > 0 {
			all.Go(func() { p.answers, p.err = s.filters[i].Keys(ctx, v, p.keys) })
		}
	}
	all.Wait()
	answers := make([]uint64, len(list))
	for i, p := range portions {
		if p.err != nil {
			return nil, fmt.Errorf("%s: %w", s.filters[i].name, p.err)
		}
		for j, at := range p.at {
			answers[at] = p.answers[j]
		}
	}
	return answers, nil
}

// Each is Filter.Each.
func (s *Split) Each(ctx context.Context, v Verb, batches iter.Seq2[[][]byte, error], answered func(keys [][]byte, ns []uint64) error) error {
	return each(ctx, v, s.Keys, batches, answered)
}
