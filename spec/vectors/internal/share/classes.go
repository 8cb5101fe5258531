package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// The publication with classes has the folds of the state by 5 and 25. Versions up to refinedVersion have
// snapshots, and those after it deltas.
const refinedVersion, lastVersion = 3, 6

// late is a subscriber of a publication with classes: what it has, and what it wants.
type late struct {
	version, fold uint64 // version 0 is none
	have, want    share.Budget
}

// publishClasses returns the publication with classes as subscribers of the whole filter and of class 5 find it.
func publishClasses(ctx context.Context) ([]file, error) {
	five, twentyFive := share.Budget{Rate: 0.2}, share.Budget{Rate: 0.5}
	whole, err := publishClass(ctx, 1, []late{
		{version: 0, fold: 1}, {version: refinedVersion, fold: 1},
		{version: refinedVersion, fold: 5, have: five}, {version: refinedVersion, fold: 25, have: twentyFive},
	})
	if err != nil {
		return nil, err
	}
	whole.Path, whole.Header[0][1] = "publication-short-refined.txt", "a publication with the classes 5 and 25, and ways to the whole filter"
	class, err := publishClass(ctx, 5, []late{
		{version: 0, fold: 5, want: five}, {version: 4, fold: 5, have: five, want: five},
		{version: 5, fold: 1, want: five}, {version: lastVersion, fold: 1, want: five}, {version: refinedVersion, fold: 25, have: twentyFive, want: five},
	})
	class.Path, class.Header[0][1] = "publication-short-class.txt", "the same publication, and ways to class 5"
	return []file{whole, class}, err
}

// publishClass returns the publication as subscribers of one class find it, with the ways that others take.
func publishClass(ctx context.Context, fold uint64, all []late) (file, error) {
	store, err := first(ctx, hashtree.Identify(state(1)))
	if err != nil {
		return file{}, err
	}
	signer, key := keyOf(publication, 0)
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return file{}, err
	}
	now := began
	clock := func() time.Time { return now }
	caches := make([]*share.Memory, len(all))
	var p *share.Publisher
	for v := uint64(1); v <= lastVersion; v++ {
		if now = began.Add(time.Duration(v) * time.Second); v == 1 || v == refinedVersion+1 {
			snapshots := map[bool]float64{true: 1e-9, false: 100}[v == 1] // always, or never
			if p, err = share.NewPublisher(ctx, share.PublisherOptions{
				Store: store, Key: share.Key{Signer: signer, Verifier: verifier}, Now: clock, MaxOldBytes: 1 << 20, SnapshotShare: snapshots,
				Folds: []uint64{5, 25}, Kinds: filter.All,
			}); err != nil {
				return file{}, err
			}
		}
		if v > 1 {
			if _, err := p.Publish(ctx, state(v)); err != nil {
				return file{}, err
			}
		}
		for i, l := range all {
			if l.version != v {
				continue
			}
			caches[i] = new(share.Memory)
			has, err := follow(ctx, store, verifier, clock, l.have, caches[i], true)
			if err != nil {
				return file{}, err
			}
			has.subscriber.Close()
		}
	}
	last, err := foldOf(state(lastVersion), fold)
	if err != nil {
		return file{}, err
	}
	record := share.ClassRecord(fold)
	f := file{Header: []field{
		{"comment", ""}, {"expect", "ok"}, {"key", key}, {"record", record},
		{"version", fmt.Sprint(lastVersion)}, {"id", hashtree.Identify(last).String()},
	}}
	objects, err := contents(ctx, store, record, verifier)
	if err != nil {
		return file{}, err
	}
	if f.Body, err = body(ctx, store, record, slices.Sorted(maps.Keys(objects))); err != nil {
		return file{}, err
	}
	if fold > 1 { // the head of the whole filter announces the class
		whole, err := body(ctx, store, share.HeadName, nil)
		if err != nil {
			return file{}, err
		}
		f.Body = whole + f.Body
	}
	for i, l := range all {
		if caches[i] == nil {
			caches[i] = new(share.Memory)
		}
		has, err := follow(ctx, store, verifier, clock, l.want, caches[i], false)
		if err != nil {
			return file{}, err
		}
		has.record = record
		way, err := has.way(ctx)
		if err != nil {
			return file{}, err
		}
		f.Header = append(f.Header, field{"way", fmt.Sprintf("%d/%d %s", l.version, l.fold, way)})
		if l.version == 0 {
			continue
		}
		s, err := foldOf(state(l.version), l.fold)
		if err != nil {
			return file{}, err
		}
		packed, err := wire.Packer{}.Append(nil, s)
		if err != nil {
			return file{}, err
		}
		f.Body += fmt.Sprintf("state-%d/%d %x\n", l.version, l.fold, packed)
	}
	return f, nil
}

// foldOf returns a state folded by r.
func foldOf(s umbel.State, r uint64) (umbel.State, error) {
	f, err := filter.All.Open(s)
	if err == nil {
		err = f.(umbel.Folder).Fold(r)
	}
	if err != nil {
		return umbel.State{}, err
	}
	return f.State(), nil
}
