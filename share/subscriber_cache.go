package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// localName is the record of a cache: a list of the objects that lead to the local version, an empty line, and the
// signed head. The list has a line for each object, with its bytes and its name; the first is a snapshot.
const localName = "held"

const (
	// maxDeltas is the number of deltas after which a cache gets a snapshot of its own.
	maxDeltas = 64
	// deltaShare is the share of the snapshot's bytes that these deltas may take.
	deltaShare = 0.5
)

// cache has the local version, in memory and, unless store is nil, in a store.
type cache struct {
	store    Store
	log      *slog.Logger
	local    local
	uncached uncached
}

// uncached is a version that was fetched and is not in the store yet, with its objects. If the store cannot be written,
// the next update to the same version tries that again and fetches nothing.
type uncached struct {
	local   local
	objects map[Ref][]byte
}

// from returns the local version for paths to a head.
func (c *cache) from(h *Head) local {
	if u := c.uncached.local; u.head != nil && u.head.ID == h.ID && u.head.Stream == h.Stream {
		return u
	}
	c.uncached = uncached{}
	return c.local
}

// arrived notes an object that was fetched.
func (c *cache) arrived(r Ref, data []byte) {
	if c.store == nil {
		return
	}
	if c.uncached.objects == nil {
		c.uncached.objects = make(map[Ref][]byte)
	}
	c.uncached.objects[r] = data
}

// set makes a version the local one and writes it to the store, from which it removes other objects. Without a store,
// the snapshot remains in memory if refinements may begin with it.
func (c *cache) set(ctx context.Context, got local, signed []byte, mayRefine bool) error {
	if c.store == nil {
		got.objects = nil
		if !mayRefine {
			got.base = baseSnapshot{}
		}
	} else if err := c.write(ctx, &got, signed); err != nil {
		c.uncached.local = got
		return fmt.Errorf("write the cache: %w", err)
	}
	c.uncached = uncached{}
	c.local = got.packed()
	return nil
}

// write writes a version to the store, and then removes the objects that it does not need.
func (c *cache) write(ctx context.Context, got *local, signed []byte) error {
	if err := c.writeObjects(ctx, got.objects); err != nil {
		return err
	}
	if err := c.compact(ctx, got); err != nil {
		return err
	}
	got.base = baseSnapshot{Ref: got.objects[0].Ref, cache: c.store}
	var b strings.Builder
	needed := make(map[string]bool)
	for _, o := range got.objects {
		fmt.Fprintf(&b, "%d %s\n", o.Bytes, o.Hash)
		needed[o.Hash.String()], needed[o.Hash.ChunksName()] = true, true
	}
	b.WriteByte('\n')
	b.Write(signed)
	if err := c.store.PutRecord(ctx, localName, []byte(b.String())); err != nil {
		return err
	}
	if c.local.head != nil && c.local.head.ID == got.head.ID {
		return nil
	}
	if err := c.sweep(ctx, needed); err != nil {
		c.log.Warn("the cache has objects that are not needed", event.CleanupFailed, "error", err)
	}
	return nil
}

// writeObjects writes the objects that the store does not have.
func (c *cache) writeObjects(ctx context.Context, objects []object) error {
	for _, o := range objects {
		data, ok := c.uncached.objects[o.Ref]
		if !ok {
			continue
		}
		if _, err := putBytes(ctx, c.store, data); err != nil {
			return err
		}
		delete(c.uncached.objects, o.Ref)
	}
	return nil
}

// compact replaces the objects of a version by a snapshot if they are many, or if a fold is missing before them.
func (c *cache) compact(ctx context.Context, got *local) error {
	if len(got.objects) > 0 && got.objects[0].snapshot {
		deltas := uint64(0)
		for _, o := range got.objects[1:] {
			deltas += o.Bytes
		}
		if len(got.objects) <= maxDeltas && float64(deltas) <= deltaShare*float64(got.objects[0].Bytes) {
			return nil
		}
	}
	r, err := put(ctx, c.store, got.writePacked)
	if err == nil {
		got.objects = []object{{Ref: r, to: got.head.Version, snapshot: true}}
	}
	return err
}

// writePacked writes the packed container of the state.
func (l *local) writePacked(w io.Writer) error {
	if l.compact != nil {
		return l.compact.WriteBloom(w, wire.Packer{})
	}
	return wire.Packer{}.Write(w, l.state)
}

// sweep removes the objects of the store that are not needed.
func (c *cache) sweep(ctx context.Context, needed map[string]bool) error {
	var unneeded []string
	for name, err := range c.store.Objects(ctx) {
		if err != nil {
			return fmt.Errorf("list the cache: %w", err)
		}
		if !needed[name] && CheckObject(name) == nil {
			unneeded = append(unneeded, name)
		}
	}
	for _, name := range unneeded {
		if err := c.store.Remove(ctx, name); err != nil {
			return fmt.Errorf("clean the cache: %w", err)
		}
	}
	return nil
}

// read reads the version in the store. It returns its head, nil if the store has no version of the key, and a local
// version without a head if objects are damaged: the next update fetches it again. The error is that of the store.
func (c *cache) read(ctx context.Context, verifier note.Verifier, limits wire.Limits) (*Head, local, error) {
	// Cleaning the cache would remove the objects of a publication.
	for _, name := range []string{HeadName, notesName} {
		if _, err := c.store.Record(ctx, name); err == nil {
			return nil, local{}, errors.New("the cache contains a publication: give the subscriber an empty one of its own")
		} else if !errors.Is(err, ErrNotFound) {
			return nil, local{}, fmt.Errorf("read the cache: %w", err)
		}
	}
	b, err := c.store.Record(ctx, localName)
	if errors.Is(err, ErrNotFound) {
		return nil, local{}, nil
	}
	if err != nil {
		return nil, local{}, fmt.Errorf("read the cache: %w", err)
	}
	objects, signed, err := parseLocal(string(b))
	var h *Head
	if err == nil {
		h, err = OpenHead([]byte(signed), verifier.Name(), note.VerifierList(verifier))
	}
	if err != nil {
		c.log.Warn("the cache is ignored", event.SubscriptionCache, "error", err)
		return nil, local{}, nil
	}
	a := applier{source: c.store, limits: limits}
	got, _, err := a.apply(ctx, h, local{}, path{objects: objects})
	if err != nil {
		if ctx.Err() != nil {
			return nil, local{}, err
		}
		c.unusable(err)
		return h, local{}, nil
	}
	got.objects, got.base = objects, baseSnapshot{Ref: objects[0].Ref, cache: c.store}
	return h, got, nil
}

// unusable notes that the version in the store cannot be used.
func (c *cache) unusable(err error) {
	c.log.Warn("the version in the cache is fetched again", event.SubscriptionCache, "error", err)
}

// parseLocal splits a record of a cache.
func parseLocal(b string) (objects []object, signed string, err error) {
	if len(b) > MaxRecord {
		return nil, "", sentinel.Errorf(ErrCorrupt, "the record of the cache has %d bytes, want at most %d", len(b), MaxRecord)
	}
	lines, signed, ok := strings.Cut(b, "\n\n")
	if !ok {
		return nil, "", sentinel.Errorf(ErrCorrupt, "the record of the cache has no head")
	}
	for l := range strings.SplitSeq(lines, "\n") {
		bytes, name, _ := strings.Cut(l, " ")
		n, err := strconv.ParseUint(bytes, 10, 64)
		if err != nil {
			return nil, "", sentinel.Errorf(ErrCorrupt, "the record of the cache has the line %.80q", l)
		}
		h, err := ParseHash(name)
		if err != nil {
			return nil, "", err
		}
		objects = append(objects, object{Ref: Ref{h, n}})
	}
	objects[0].snapshot = true
	return slices.Clip(objects), signed, nil
}
