package share

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// edge is a delta's first and last version.
type edge struct{ from, to uint64 }

// offer is what subscribers of a version can fetch.
type offer struct {
	version   uint64
	snapshots []Snapshot // the newest first, at most two
	deltas    map[edge]Ref
	pages     map[uint64]Ref
	parts     []part // of the notes
	index     Ref
	// refinements lead to the newest snapshot.
	refinements []Refinement
}

// keptSnapshots is the number of snapshots that an index lists: one may be older than the deltas
// that lead from it.
const keptSnapshots = 2

// limit is the number of bytes that a delta must not reach: beyond it a snapshot is better.
func (e *offer) limit() uint64 {
	if len(e.snapshots) == 0 {
		return 1 << 62
	}
	return e.snapshots[0].Bytes * 3 / 4
}

// needsSnapshot reports whether the deltas after the last snapshot take more than a share of its
// bytes.
func (e *offer) needsSnapshot(share float64) bool {
	if len(e.snapshots) == 0 {
		return true
	}
	last := e.snapshots[0]
	_, bytes, ok := cheapest([]pathStart{{version: last.Version}}, e.list(), e.version)
	return !ok || float64(bytes) > share*float64(last.Bytes)
}

func (e *offer) addSnapshot(r Ref) {
	e.snapshots = slices.Insert(e.snapshots, 0, Snapshot{e.version, r})
	e.snapshots = e.snapshots[:min(len(e.snapshots), keptSnapshots)]
}

// list returns the deltas in the order of To, then From.
func (e *offer) list() []Delta {
	list := make([]Delta, 0, len(e.deltas))
	for d, r := range e.deltas {
		list = append(list, Delta{d.from, d.to, r})
	}
	slices.SortFunc(list, compareDeltas)
	return list
}

// writeIndex writes the pages that are complete, and the index. The index itself has the deltas
// that lead from the snapshots.
func (e *offer) writeIndex(ctx context.Context, store Store) (err error) {
	x := Index{Snapshots: e.snapshots, Refinements: e.refinements}
	list := e.list()
	direct := make(map[Ref]bool)
	for i := range e.snapshots {
		p, _, _ := cheapest(snapshotStarts(e.snapshots[i:i+1]), list, e.version)
		for _, o := range p.objects {
			direct[o.Ref] = true
		}
	}
	inPage := make(map[uint64][]Delta)
	for _, d := range list {
		isPaged := paged(d.From, d.To, e.version)
		if isPaged {
			inPage[page(d.From)] = append(inPage[page(d.From)], d)
		}
		if !isPaged || direct[d.Ref] {
			x.Deltas = append(x.Deltas, d)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(inPage)) {
		if _, ok := e.pages[n]; ok {
			continue
		}
		r, err := writeIndex(ctx, store, &Index{Deltas: inPage[n]})
		if err != nil {
			return err
		}
		e.pages[n] = r
	}
	for _, n := range slices.Sorted(maps.Keys(e.pages)) {
		x.Pages = append(x.Pages, Page{n, e.pages[n]})
	}
	e.index, err = writeIndex(ctx, store, &x)
	return err
}

func writeIndex(ctx context.Context, store Store, x *Index) (Ref, error) {
	b, err := x.AppendBinary(nil)
	if err != nil {
		return Ref{}, err
	}
	return putBytes(ctx, store, b)
}

// catalog knows the objects in a store, and removes those that no head has needed for a time. It is
// the store to which objects are written.
type catalog struct {
	Store
	grace  time.Duration
	now    func() time.Time
	used   map[string]bool      // by the heads in the store, and by heads that may be there
	unused map[string]time.Time // since when
	// replaced are parts of notes that the current notes do not have.
	replaced []part
}

func newCatalog(o *PublisherOptions) *catalog {
	return &catalog{
		Store: o.Store, grace: o.Grace, now: o.Now,
		unused: make(map[string]time.Time), used: make(map[string]bool),
	}
}

// adopt notes the objects that an earlier publisher left. They are used until there is another head.
func (c *catalog) adopt(ctx context.Context) error {
	for name, err := range c.Objects(ctx) {
		if err != nil {
			return err
		}
		if CheckObject(name) == nil {
			c.used[name] = true
		}
	}
	return nil
}

// NewObject begins an object. It is unused until an offer that uses it is committed.
func (c *catalog) NewObject(ctx context.Context) (Upload, error) {
	u, err := c.Store.NewObject(ctx)
	if err != nil {
		return nil, err
	}
	return upload{u, c}, nil
}

type upload struct {
	Upload
	c *catalog
}

func (u upload) Commit(ctx context.Context, name string) error {
	if !u.c.used[name] {
		u.c.unused[name] = u.c.now()
	}
	return u.Upload.Commit(ctx, name)
}

// next returns the offer of a later version, with what remains of e. If e is nil, it is the first one.
func (e *offer) next(version uint64) *offer {
	n := &offer{version: version, deltas: make(map[edge]Ref), pages: make(map[uint64]Ref)}
	if e == nil {
		return n
	}
	n.snapshots, n.parts, n.refinements = slices.Clone(e.snapshots), e.parts, e.refinements
	for number, r := range e.pages {
		if (number+1)*pageVersions+horizon > version {
			n.pages[number] = r
		}
	}
	for d, r := range e.deltas {
		if useful(d.from, d.to, version) || n.listed(d) {
			n.deltas[d] = r
		}
	}
	return n
}

// listed reports whether a delta is in a page.
func (e *offer) listed(d edge) bool {
	_, ok := e.pages[page(d.from)]
	return ok && paged(d.from, d.to, e.version)
}

// dropOldest drops the deltas from the oldest versions if all together take more than limit bytes, so that later
// versions keep all of their paths. The delta from the version before remains in any case. A page that loses a delta
// is written again.
func (e *offer) dropOldest(limit uint64) {
	if limit == 0 && len(e.snapshots) > 0 {
		limit = 4 * e.snapshots[0].Bytes
	}
	sum := uint64(0)
	for _, r := range e.deltas {
		sum += r.Bytes
	}
	list := e.list()
	slices.SortStableFunc(list, func(a, b Delta) int { return cmp.Compare(a.From, b.From) })
	for _, x := range list {
		if sum <= limit || x.From+1 == e.version {
			return
		}
		d := edge{x.From, x.To}
		if e.listed(d) {
			delete(e.pages, page(d.from))
		}
		sum -= x.Bytes
		delete(e.deltas, d)
	}
}

// addTo adds the names of the objects of an offer.
func (e *offer) addTo(names map[string]bool) {
	use := func(r Ref) {
		for _, n := range r.names() {
			names[n] = true
		}
	}
	use(e.index)
	for _, s := range e.snapshots {
		use(s.Ref)
	}
	for _, r := range e.deltas {
		use(r)
	}
	for _, r := range e.pages {
		use(r)
	}
	for _, p := range e.parts {
		if p.inline == nil {
			use(p.ref)
		}
	}
	for _, r := range e.refinements {
		use(r.Snapshot)
		use(r.Ref)
	}
}

// commit notes that the head of an offer may be in the store from now on.
func (c *catalog) commit(e *offer) {
	names := make(map[string]bool)
	e.addTo(names)
	for name := range names {
		c.used[name] = true
		delete(c.unused, name)
	}
}

// published notes that the heads in the store are those of the given offers: other objects are unused.
func (c *catalog) published(offers ...*offer) {
	needed := make(map[string]bool)
	for _, e := range offers {
		e.addTo(needed)
	}
	for name := range c.used {
		if !needed[name] {
			c.unused[name] = c.now()
		}
	}
	c.used = needed
	// Subscribers do not read the parts of notes, which therefore have no time of grace.
	for _, p := range c.replaced {
		for _, name := range p.ref.names() {
			if _, ok := c.unused[name]; ok {
				c.unused[name] = time.Time{}
			}
		}
	}
	c.replaced = nil
}

// collect removes objects that have been unused for the time of grace.
func (c *catalog) collect(ctx context.Context) error {
	now := c.now()
	for name, since := range c.unused {
		if now.Sub(since) < c.grace {
			continue
		}
		if err := c.Remove(ctx, name); err != nil {
			return fmt.Errorf("the head is published, but an old object remains: %w", err)
		}
		delete(c.unused, name)
	}
	return nil
}
