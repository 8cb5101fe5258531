package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
	"github.com/umbel-filters/umbel/filter"
)

// Misplaced is a filter on a node to which a slot map does not give it.
type Misplaced struct {
	Name     string
	Bytes    uint64
	From, To string // hosts

	from, to *Client
	owned    bool // Old gives it to the node on which it is
	expires  *time.Time
	id       string // of the copy that was compared, "" before
}

// Mover moves the filters of nodes from the slot map Old to New: those of slots that New gives to other nodes. No change that a node
// has acknowledged is lost, whenever Move ends, and no query is answered without the keys that were added before it:
//
//  1. All nodes get Old, in which the slots that move refuse changes (TRYAGAIN). Their queries are answered where they were.
//  2. Each filter is copied, and the copy compared by its ID.
//  3. All nodes get New, in which these slots still refuse changes. Queries are answered by the copies or by the originals, which
//     are equal, so it does not matter in which order.
//  4. All nodes get New, and changes are accepted where it gives the slots.
//  5. The originals are deleted if their ID is still that of the copy. A late change, which a node had begun before step 1, makes it differ;
//     its bits are then merged into the copy.
//
// Before step 3 Move returns to Old on an error. From step 4 on it goes forward only, also if it is repeated.
type Mover struct {
	Old, New *slots.Map
	Copied   func(Misplaced) // is called after a filter has been copied, may be nil
	cluster  *Cluster
	step     func(string) error // for tests: an error ends Move as if the process had been killed
}

// NewMover returns a Mover with the credentials of c.
func (c *Client) NewMover(from, to *slots.Map) *Mover {
	moving := *c
	moving.Move = true
	return &Mover{Old: from, New: to, cluster: moving.ClusterOf(to), step: func(string) error { return nil }}
}

// shards are all shards of Old, and those of New without a node of Old.
func (m *Mover) shards() []slots.Shard {
	all := slices.Clone(m.Old.Shards)
	for _, s := range m.New.Shards {
		if m.Old.Heir(s) < 0 {
			all = append(all, s)
		}
	}
	return all
}

// Find returns the filters that are on nodes to which New does not give them, by node and name.
func (m *Mover) Find(ctx context.Context) (list []Misplaced, err error) {
	for i, s := range m.shards() {
		from, err := m.cluster.leader(ctx, s)
		if err != nil {
			return nil, err
		}
		at := m.New.Heir(s)
		for b, err := range from.List(ctx, "") {
			if err != nil {
				return nil, err
			}
			slot := slots.Of([]byte(b.Name))
			if m.New.Owner(slot) == at {
				continue
			}
			to, err := m.cluster.Of(ctx, b.Name)
			if err != nil {
				return nil, err
			}
			list = append(list, Misplaced{Name: b.Name, Bytes: b.Bytes, From: from.Base.Host, To: to.Base.Host, from: from, to: to,
				owned: m.Old.Owner(slot) == i, expires: b.Expires})
		}
	}
	slices.SortStableFunc(list, func(a, b Misplaced) int {
		if a.From != b.From {
			return strings.Compare(a.From, b.From)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, nil
}

// install replaces the map on all nodes.
func (m *Mover) install(ctx context.Context, what string, to *slots.Map) error {
	for _, s := range m.shards() {
		for _, n := range s.Nodes {
			c, err := m.cluster.node(n)
			if err == nil {
				err = m.step(what + " " + n.Addr)
			}
			if err == nil {
				err = c.installSlotMap(ctx, to)
			}
			if err != nil {
				return fmt.Errorf("slot map of %s: %w", n.Addr, err)
			}
		}
	}
	return nil
}

// begun reports whether a node of Old accepts changes by New already: then filters have changed there, and nothing may be copied over them.
func (m *Mover) begun(ctx context.Context) (bool, error) {
	for _, s := range m.Old.Shards {
		for _, n := range s.Nodes {
			c, err := m.cluster.node(n)
			if err != nil {
				return false, err
			}
			now, err := c.SlotMap(ctx)
			switch {
			case err != nil:
				return false, fmt.Errorf("%s: %w", n.Addr, err)
			case now == nil:
				return false, fmt.Errorf("the node %s has no slot map; start it with --slot-map", n.Addr)
			case string(now.Text()) == string(m.New.Text()) && string(m.New.Text()) != string(m.Old.Text()):
				return true, nil
			}
		}
	}
	return false, nil
}

// Move moves the filters. It returns those that it has moved.
func (m *Mover) Move(ctx context.Context) ([]Misplaced, error) {
	begun, err := m.begun(ctx)
	if err != nil {
		return nil, err
	}
	var list []Misplaced
	if !begun {
		if list, err = m.copyAll(ctx); err != nil {
			if back := m.install(context.WithoutCancel(ctx), "back", m.Old); back != nil {
				err = fmt.Errorf("%w; changes of the slots that move are refused until the old map is on all nodes or the move is repeated: %w", err, back)
			}
			return nil, err
		}
		if err := m.install(ctx, "new, moving", m.New.WithMovingFrom(m.Old)); err != nil {
			return nil, fmt.Errorf("%w; repeat the move", err)
		}
	}
	if err := m.install(ctx, "new", m.New); err != nil {
		return nil, fmt.Errorf("%w; repeat the move", err)
	}
	left, err := m.Find(ctx)
	if err != nil {
		return list, err
	}
	var errs []error
	for _, f := range left {
		if i := slices.IndexFunc(list, func(g Misplaced) bool { return g.Name == f.Name && g.From == f.From }); i >= 0 {
			f.id = list[i].id
		}
		if err := m.step("delete " + f.Name); err != nil {
			return list, err
		}
		errs = append(errs, m.settle(ctx, &f))
		if f.id != "" && begun {
			list = append(list, f)
		}
	}
	return list, errors.Join(errs...)
}

// copyAll makes the slots that move refuse changes, and copies their filters. A filter that an earlier move has left behind is not copied
// over the one that clients use; settle joins both.
func (m *Mover) copyAll(ctx context.Context) ([]Misplaced, error) {
	if err := m.install(ctx, "old, moving", m.Old.WithMoving(m.New)); err != nil {
		return nil, err
	}
	list, err := m.Find(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f Misplaced) bool { return !f.owned })
	for i := range list {
		f := &list[i]
		if err := m.step("copy " + f.Name); err != nil {
			return nil, err
		}
		if f.id, err = f.copy(ctx, true); err != nil {
			return nil, fmt.Errorf("filter %q from %s to %s: %w", f.Name, f.From, f.To, err)
		}
		if m.Copied != nil {
			m.Copied(*f)
		}
	}
	return list, nil
}

// maxCopies is the number of copies after which a filter that changes all the time is given up. A window that follows the clock
// differs for a moment after each tick.
const maxCopies = 5

// copy copies the filter until both have the same ID, and returns it.
func (f *Misplaced) copy(ctx context.Context, replace bool) (id string, err error) {
	for range maxCopies {
		if err := f.transfer(ctx, f.Name, replace); err != nil {
			return "", err
		}
		if f.expires != nil {
			if _, err := f.to.info(ctx, http.MethodPatch, api.FilterPath(f.Name), map[string]any{"expires": f.expires}); err != nil {
				return "", err
			}
		}
		a, err := f.from.id(ctx, f.Name)
		if err != nil {
			return "", err
		}
		b, err := f.to.id(ctx, f.Name)
		if err != nil || a == b {
			return a, err
		}
		replace = true
	}
	return "", fmt.Errorf("the filter changes all the time")
}

// transfer copies the filter to the other node, with a name.
func (f *Misplaced) transfer(ctx context.Context, name string, replace bool) error {
	r, w := io.Pipe()
	go func() {
		_, err := f.from.Get(ctx, f.Name, false, w)
		w.CloseWithError(err)
	}()
	_, err := f.to.Put(ctx, name, r, replace)
	r.CloseWithError(err)
	return err
}

// id returns the ID of a filter.
func (c *Client) id(ctx context.Context, name string) (string, error) {
	response, err := c.do(ctx, request{method: http.MethodHead, path: api.FilterPath(name), header: map[string]string{"Accept": api.MediaContainer},
		want: api.MediaContainer, long: true})
	if err != nil {
		return "", err
	}
	_ = response.Body.Close()
	id, _, _ := strings.Cut(strings.Trim(response.Header.Get("Etag"), `"`), "-")
	return id, nil
}

// settle deletes a filter from a node to which the map does not give it, after all that it has is on the other node.
func (m *Mover) settle(ctx context.Context, f *Misplaced) error {
	here, err := f.from.id(ctx, f.Name)
	if err != nil {
		return err
	}
	if here != f.id {
		there, err := f.to.id(ctx, f.Name)
		switch {
		case word(err) == api.WordNotFound:
			_, err = f.copy(ctx, false)
		case err == nil && here != there:
			err = f.merge(ctx)
		}
		if err != nil {
			return fmt.Errorf("filter %q stays on %s: %w", f.Name, f.From, err)
		}
	}
	f.id = here
	return f.from.Delete(ctx, f.Name)
}

// merge adds the keys to the filter of the other node, which has changed since it was copied, or was made there.
func (f *Misplaced) merge(ctx context.Context) error {
	in, err := f.from.Info(ctx, f.Name)
	if err != nil {
		return err
	}
	kind, err := filter.All.Find(in.Kind)
	if err != nil || !kind.Monotone || !slices.Contains(in.Can, "merge") {
		return fmt.Errorf("%s has another filter of this name, and filters of kind %s cannot be joined without doubt; compare both, and delete one", f.To, in.Kind)
	}
	temporary := f.Name + ".moved"
	if err := f.transfer(ctx, temporary, true); err != nil {
		return err
	}
	_, err = f.to.Merge(ctx, f.Name, temporary)
	return errors.Join(err, f.to.Delete(ctx, temporary))
}
