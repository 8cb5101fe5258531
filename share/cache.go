package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// heldName is the record of a cache: the recipe of the state, an empty line, and the signed head.
// A recipe has a line for each object, with its bytes and its name; the first is a snapshot.
const heldName = "held"

const (
	// maxRecipe is the number of deltas after which a cache gets a snapshot of its own.
	maxRecipe = 64
	// recipeShare is the share of the snapshot's bytes that these deltas may take.
	recipeShare = 0.5
)

// keep writes a version to the cache, and then removes what it no longer needs.
func (s *Subscriber) keep(ctx context.Context, got *held, signed []byte) error {
	if s.o.Cache == nil {
		got.recipe = nil
		if !s.mayRefine(got.head) {
			got.origin = origin{}
		}
		return nil
	}
	err := s.unkept.write(ctx, s.o.Cache, got.recipe)
	if err == nil {
		err = s.compact(ctx, got)
	}
	if err != nil {
		return fmt.Errorf("share: write the cache: %w", err)
	}
	got.origin = origin{Ref: got.recipe[0].Ref, cache: s.o.Cache}
	var b strings.Builder
	needed := make(map[string]bool)
	for _, r := range got.recipe {
		fmt.Fprintf(&b, "%d %s\n", r.Bytes, r.Hash)
		needed[r.Hash.String()], needed[r.Hash.ChunksName()] = true, true
	}
	b.WriteByte('\n')
	b.Write(signed)
	if err := s.o.Cache.PutRecord(ctx, heldName, []byte(b.String())); err != nil {
		return fmt.Errorf("share: write the cache: %w", err)
	}
	if s.held.head != nil && s.held.head.ID == got.head.ID {
		return nil
	}
	if err := s.sweep(ctx, needed); err != nil {
		s.o.Log.Warn("the cache has objects that are not needed", "error", err)
	}
	return nil
}

// compact replaces a long recipe by a snapshot, and so one that begins with a fold.
func (s *Subscriber) compact(ctx context.Context, got *held) error {
	if len(got.recipe) > 0 && got.recipe[0].snapshot {
		deltas := uint64(0)
		for _, r := range got.recipe[1:] {
			deltas += r.Bytes
		}
		if len(got.recipe) <= maxRecipe && float64(deltas) <= recipeShare*float64(got.recipe[0].Bytes) {
			return nil
		}
	}
	r, err := put(ctx, s.o.Cache, got.writePacked)
	if err == nil {
		got.recipe = []step{{Ref: r, to: got.head.Version, snapshot: true}}
	}
	return err
}

// writePacked writes the packed container of the state.
func (h *held) writePacked(w io.Writer) error {
	if h.compact != nil {
		return h.compact.WriteBloom(w, wire.Packer{})
	}
	if h.pack != nil {
		_, err := w.Write(h.pack)
		return err
	}
	return wire.Packer{}.Write(w, h.state)
}

// sweep removes the objects of the cache that are not needed.
func (s *Subscriber) sweep(ctx context.Context, needed map[string]bool) error {
	var unneeded []string
	for name, err := range s.o.Cache.Objects(ctx) {
		if err != nil {
			return fmt.Errorf("list the cache: %w", err)
		}
		if !needed[name] && CheckObject(name) == nil {
			unneeded = append(unneeded, name)
		}
	}
	for _, name := range unneeded {
		if err := s.o.Cache.Remove(ctx, name); err != nil {
			return fmt.Errorf("clean the cache: %w", err)
		}
	}
	return nil
}

// restore reads the version in the cache. What is damaged there is fetched again by the next
// Update; a record that is not signed is ignored.
func (s *Subscriber) restore(ctx context.Context) error {
	// Cleaning the cache would remove the objects of a publication.
	for _, name := range []string{HeadName, notesName} {
		if _, err := s.o.Cache.Record(ctx, name); err == nil {
			return errors.New("share: the cache contains a publication: give the subscriber an empty one of its own")
		} else if !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("share: read the cache: %w", err)
		}
	}
	b, err := s.o.Cache.Record(ctx, heldName)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("share: read the cache: %w", err)
	}
	recipe, signed, err := parseHeld(string(b))
	if err != nil {
		s.o.Log.Warn("the cache is ignored", "error", err)
		return nil
	}
	h, err := OpenHead([]byte(signed), s.o.Verifier.Name(), note.VerifierList(s.o.Verifier))
	if err != nil {
		s.o.Log.Warn("the cache is ignored", "error", err)
		return nil
	}
	r := reacher{
		source: s.o.Cache, limits: s.o.Limits, note: s.resync,
		fetched: func(Ref, []byte) {},
	}
	got, _, err := r.walk(ctx, h, held{}, recipe)
	if err == nil {
		got.recipe, got.origin = recipe, origin{Ref: recipe[0].Ref, cache: s.o.Cache}
		err = s.restored(got)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		// The order of heads is kept, so that an older one is not accepted.
		s.o.Log.Warn("the version in the cache is fetched again", "error", err)
		s.last = h
	}
	return nil
}

func (s *Subscriber) restored(got held) error {
	f, fold, err := s.open(&got)
	if err != nil {
		return err
	}
	s.held, s.last = got.packed(), got.head
	if s.o.Budget != (Budget{}) {
		s.class = got.head.Fold
		s.meter.begin()
	}
	s.show(f, got.head, fold, s.o.Now())
	return nil
}

// parseHeld splits a record of a cache.
func parseHeld(b string) (recipe []step, signed string, err error) {
	if len(b) > MaxRecord {
		return nil, "", fmt.Errorf("share: the record of the cache has %d bytes, want at most %d: %w", len(b), MaxRecord, ErrCorrupt)
	}
	lines, signed, ok := strings.Cut(b, "\n\n")
	if !ok {
		return nil, "", fmt.Errorf("share: the record of the cache has no head: %w", ErrCorrupt)
	}
	for l := range strings.SplitSeq(lines, "\n") {
		bytes, name, _ := strings.Cut(l, " ")
		n, err := strconv.ParseUint(bytes, 10, 64)
		if err != nil {
			return nil, "", fmt.Errorf("share: the record of the cache has the line %.80q: %w", l, ErrCorrupt)
		}
		h, err := ParseHash(name)
		if err != nil {
			return nil, "", err
		}
		recipe = append(recipe, step{Ref: Ref{h, n}})
	}
	recipe[0].snapshot = true
	return slices.Clip(recipe), signed, nil
}
