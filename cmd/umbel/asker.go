package main

import (
	"context"
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

// asker does one thing with keys: a node's filter, or one in memory.
type asker interface {
	// Each does it with batches of keys, and calls answered with each and the answers: 1 for
	// yes and 0 for no, or a number.
	Each(ctx context.Context, v remote.Verb, batches iter.Seq2[[][]byte, error], answered func(keys [][]byte, ns []uint64) error) error
}

// asker returns the filter of a name to be asked.
func (p place) asker(name string) (asker, error) {
	if p.node != nil {
		f, _, err := p.node.Filter(p.cmd.Context(), name)
		return f, err
	}
	f, err := p.open(name)
	return local{name, f}, err
}

// local is a filter in memory.
type local struct {
	name string
	umbel.Filter
}

// doing returns what a verb does with a batch.
func (l local) doing(v remote.Verb) (func(ns []uint64, ds []umbel.Digest, keys [][]byte), error) {
	switch v {
	case remote.Count:
		c, err := able[umbel.Counter](l.name, l.Filter, "doesn't count")
		return func(ns []uint64, ds []umbel.Digest, _ [][]byte) {
			for i, d := range ds {
				ns[i] = c.Count(d)
			}
		}, err
	case remote.Remove:
		r, err := able[umbel.Remover](l.name, l.Filter, "can't forget single keys")
		return func(ns []uint64, ds []umbel.Digest, _ [][]byte) {
			for i, d := range ds {
				ns[i] = answerOf(r.Remove(d))
			}
		}, err
	}
	return l.has(), nil
}

// has asks many keys at once, and those again that tell their class.
func (l local) has() func(ns []uint64, ds []umbel.Digest, keys [][]byte) {
	classes, _ := l.Filter.(umbel.Classifier)
	var has []bool
	return func(ns []uint64, ds []umbel.Digest, keys [][]byte) {
		has = slices.Grow(has[:0], len(ds))[:len(ds)]
		umbel.HasAll(l.Filter, has, ds)
		for i, yes := range has {
			if classes != nil {
				if class, ok := classes.Class(keys[i]); ok {
					yes = classes.HasClass(ds[i], class)
				}
			}
			ns[i] = answerOf(yes)
		}
	}
}

func answerOf(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// Each is that of [asker], but for adding keys.
func (l local) Each(_ context.Context, v remote.Verb, batches iter.Seq2[[][]byte, error], answered func([][]byte, []uint64) error) error {
	do, err := l.doing(v)
	if err != nil {
		return err
	}
	const together = 1024 // digests that stay in cache
	ds, ns := make([]umbel.Digest, 0, together), make([]uint64, together)
	h := l.State().Hasher
	for batch, err := range batches {
		if err != nil {
			return err
		}
		for list := range slices.Chunk(batch, together) {
			ds = ds[:0]
			for _, key := range list {
				d, err := keys.Digest(h, key)
				if err != nil {
					return err
				}
				ds = append(ds, d)
			}
			do(ns, ds, list)
			if err := answered(list, ns[:len(list)]); err != nil {
				return err
			}
		}
	}
	return nil
}
