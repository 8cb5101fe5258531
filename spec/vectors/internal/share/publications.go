package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// publications returns the vectors with publications as subscribers find them.
func publications() ([]file, error) {
	ctx := context.Background()
	ten, err := publish(ctx, 10, []uint64{0, 2, 7, 9})
	if err != nil {
		return nil, err
	}
	ten.Path, ten.Header[0][1] = "publication-short-10.txt", "ten versions, and ways to the last one"
	eighty, err := publish(ctx, 80, []uint64{0, 1, 35, 36, 61, 71, 78})
	if err != nil {
		return nil, err
	}
	eighty.Path, eighty.Header[0][1] = "publication-short-80.txt", "eighty versions, whose index has two pages"
	classes, err := publishClasses(ctx)
	if err != nil {
		return nil, err
	}
	bad, err := badPublications(ctx)
	return append(append([]file{ten, eighty}, classes...), bad...), err
}

// state returns a filter that changes from version to version.
func state(version uint64) umbel.State {
	f, err := bloom.NewShape(bloom.Shape{M: 40_000, K: 1, Hasher: umbel.Hasher{Alg: umbel.Murmur64A}})
	if err != nil {
		panic(err)
	}
	for i := 2 * version; i < 2*version+800; i++ {
		umbel.AddKey(f, i)
	}
	return f.State()
}

// first writes version 1, with the stream of the vectors, and returns the store. Id is that of the
// head.
func first(ctx context.Context, id wire.ID) (*share.Memory, error) {
	s := state(1)
	packed, err := wire.Packer{}.Append(nil, s)
	if err != nil {
		return nil, err
	}
	x := share.Index{Snapshots: []share.Snapshot{{Version: 1, Ref: share.RefOf(packed)}}}
	index, err := x.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	h := share.Head{
		Name: publication, Stream: stream, Version: 1, Time: began, Valid: 5 * time.Minute,
		ID: id, Kind: s.Kind, Bytes: s.Bytes(), Index: share.RefOf(index),
	}
	signer, _ := keyOf(publication, 0)
	signed, err := h.Sign(signer)
	if err != nil {
		return nil, err
	}
	store := new(share.Memory)
	for _, object := range [][]byte{packed, index} {
		u, err := store.NewObject(ctx)
		if err != nil {
			return nil, err
		}
		if _, err := u.Write(object); err != nil {
			return nil, err
		}
		if err := u.Commit(ctx, share.RefOf(object).Hash.String()); err != nil {
			return nil, err
		}
	}
	return store, store.PutRecord(ctx, share.HeadName, signed)
}

// publish publishes a number of versions, and returns the result with the ways that subscribers take
// who have one of the versions in late; 0 means none.
func publish(ctx context.Context, versions uint64, late []uint64) (file, error) {
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
	p, err := share.NewPublisher(ctx, share.PublisherOptions{
		Store: store, Key: share.Key{Signer: signer, Verifier: verifier}, Now: func() time.Time { return now }, MaxOldBytes: 1 << 20, SnapshotShare: 1.5,
	})
	if err != nil {
		return file{}, err
	}
	subscribers := make(map[uint64]*follower)
	for v := uint64(0); v <= versions; v++ {
		if now = began.Add(time.Duration(v) * time.Second); v > 1 {
			if _, err := p.Publish(ctx, state(v)); err != nil {
				return file{}, err
			}
		}
		if !slices.Contains(late, v) {
			continue
		}
		if subscribers[v], err = follow(ctx, store, verifier, func() time.Time { return now }, share.Budget{}, nil, v > 0); err != nil {
			return file{}, err
		}
	}
	f := file{Header: []field{
		{"comment", ""}, {"expect", "ok"}, {"key", key},
		{"version", fmt.Sprint(versions)}, {"id", hashtree.Identify(state(versions)).String()},
	}}
	for _, v := range late {
		way, err := subscribers[v].way(ctx)
		if err != nil {
			return file{}, err
		}
		f.Header = append(f.Header, field{"way", fmt.Sprintf("%d %s", v, way)})
	}
	objects, err := contents(ctx, store, share.HeadName, verifier)
	if err != nil {
		return file{}, err
	}
	f.Body, err = body(ctx, store, share.HeadName, slices.Sorted(maps.Keys(objects)))
	if err != nil {
		return file{}, err
	}
	for _, v := range late {
		if v == 0 {
			continue
		}
		packed, err := wire.Packer{}.Append(nil, state(v))
		if err != nil {
			return file{}, err
		}
		f.Body += fmt.Sprintf("state-%d %x\n", v, packed)
	}
	return f, nil
}

// contents returns the names of the objects to which the head in a record leads, and whether they are
// indexes.
func contents(ctx context.Context, store share.Source, record string, verifier note.Verifier) (map[string]bool, error) {
	signed, err := store.Record(ctx, record)
	if err != nil {
		return nil, err
	}
	h, err := share.OpenHead(signed, verifier.Name(), note.VerifierList(verifier))
	if err != nil {
		return nil, err
	}
	objects := make(map[string]bool)
	indexes := []share.Ref{h.Index}
	for len(indexes) > 0 {
		name := indexes[0].Hash.String()
		objects[name] = true
		b, err := read(ctx, store, name)
		if err != nil {
			return nil, err
		}
		var x share.Index
		if err := x.UnmarshalBinary(b); err != nil {
			return nil, err
		}
		for _, s := range x.Snapshots {
			objects[s.Hash.String()] = false
		}
		for _, d := range x.Deltas {
			objects[d.Hash.String()] = false
		}
		for _, r := range x.Refinements {
			objects[r.Snapshot.Hash.String()], objects[r.Hash.String()] = false, false
		}
		indexes = indexes[1:]
		for _, p := range x.Pages {
			indexes = append(indexes, p.Ref)
		}
	}
	return objects, nil
}

// body returns rows with the head in a record and objects.
func body(ctx context.Context, store share.Source, record string, objects []string) (string, error) {
	signed, err := store.Record(ctx, record)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", record, hex.EncodeToString(signed))
	for _, name := range objects {
		data, err := read(ctx, store, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %x\n", name, data)
	}
	return b.String(), nil
}

func read(ctx context.Context, store share.Source, name string) ([]byte, error) {
	r, err := store.Object(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// badPublications returns publications whose heads are correctly signed and mislead.
func badPublications(ctx context.Context) ([]file, error) {
	_, key := keyOf(publication, 0)
	store, err := first(ctx, hashtree.Identify(state(2)))
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range store.Objects(ctx) {
		names = append(names, name)
	}
	slices.Sort(names)
	b, err := body(ctx, store, share.HeadName, names)
	if err != nil {
		return nil, err
	}
	bad := file{Path: "bad-publication-short-id.txt", Header: []field{{"comment",
		"the snapshot is not the state that the head states"}, {"expect", "corrupt"}, {"key", key}}, Body: b}
	return []file{bad}, nil
}
