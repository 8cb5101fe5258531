package filters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/foreignfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/mapped"
)

// target is where the filters are that a verb names: in files, or on the node of --addr.
type target struct {
	*cli.Streams
	Tolerance
	node *remote.Client // nil: in files
}

// targetOf returns the target that the flags of a verb name.
func targetOf(streams *cli.Streams, n cli.Node, t Tolerance) (target, error) {
	node, err := n.Dial(streams)
	return target{streams, t, node}, err
}

// open returns the filter in a file, or a copy of a node's filter.
func (t target) open(ctx context.Context, name string) (umbel.Filter, error) {
	if t.node == nil {
		return t.clock().openFile(name)
	}
	return t.fetch(ctx, name)
}

// openFile returns the filter in a file, at the present time if it follows the clock.
func (c clock) openFile(name string) (umbel.Filter, error) {
	in, err := readSource(quietly, []string{name}, wire.Read)
	if err != nil {
		return nil, err
	}
	w, ok, err := c.presentWindows(in.state)
	if ok {
		in.state = w.State()
	}
	return c.openState(name, in.state, err)
}

// openState returns the filter with the state of a file that was read without an error, at the present time.
func (c clock) openState(name string, s umbel.State, err error) (f umbel.Filter, _ error) {
	if err == nil {
		f, err = filter.All.Open(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.follow(f)
	return f, nil
}

// openToChange is openFile for a filter that will be written in the form of its file. Windows of umbel uniq are added to, advanced
// and cleared as a whole.
func (c clock) openToChange(name string) (umbel.Filter, container.Form, error) {
	s, size, err := container.Read(name)
	if err != nil {
		return nil, container.Form{}, err
	}
	form := container.FormOf(s, size)
	w, ok, err := c.presentWindows(s)
	if ok {
		return w, form, nil
	}
	f, err := c.openState(name, s, err)
	return f, form, err
}

// fetch returns a copy of a node's filter.
func (t target) fetch(ctx context.Context, name string) (umbel.Filter, error) {
	in, err := t.node.Info(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := container.Fits("a copy of "+name, in.Bytes); err != nil {
		return nil, err
	}
	defer t.Note("fetching " + name)()
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		_, err := t.node.Get(ctx, name, false, w)
		w.CloseWithError(err)
	}()
	s, err := container.Receive(r)
	if reply, ok := errors.AsType[*remote.Error](err); ok {
		return nil, reply
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return filter.All.Open(s)
}

// change is what a verb does to a filter: in memory, and by a request to a node.
type change struct {
	inMemory func(umbel.Filter) (umbel.Filter, error)
	onNode   func(ctx context.Context, n *remote.Client, name string) (remote.Info, error)
}

// change changes a filter. If output is another name, it changes a copy of that name. It
// returns the summary of the result.
func (t target) change(ctx context.Context, name, output string, c change) (Summary, error) {
	output = cmp.Or(output, name)
	if t.node != nil {
		in, err := t.changeOnNode(ctx, name, output, c)
		if err != nil {
			return Summary{}, err
		}
		s := SummaryOf(output, in)
		return s, t.SettleOnNode(t.Streams, s, t.undoing(ctx, name, output))
	}
	stop := t.EndAtSignal(ctx, "nothing was written")
	defer stop()
	lock, err := t.LockFile(output)
	if err != nil {
		return Summary{}, err
	}
	defer lock.Close()
	f, form, err := t.clock().openToChange(name)
	if err != nil {
		return Summary{}, err
	}
	if f, err = c.inMemory(f); err != nil {
		return Summary{}, err
	}
	return t.settle(t.Streams, output, f, func() error {
		stop() // writing handles signals
		return container.WriteForm(output, f.State(), form)
	})
}

// changeOnNode is change on a node. If the change fails it deletes the copy.
func (t target) changeOnNode(ctx context.Context, name, output string, c change) (remote.Info, error) {
	if output == name {
		return c.onNode(ctx, t.node, name)
	}
	if _, err := t.node.Copy(ctx, name, output); err != nil {
		return remote.Info{}, err
	}
	in, err := c.onNode(ctx, t.node, output)
	if err != nil {
		err = nodeFilter{t.node, output, 0}.undo(ctx, err)
	}
	return in, err
}

// undoing returns undo for the copy that change made, nil if it changed the filter itself.
func (t target) undoing(ctx context.Context, name, output string) func(error) error {
	if output == name {
		return nil
	}
	return func(failed error) error { return nodeFilter{t.node, output, 0}.undo(ctx, failed) }
}

// querier runs one verb for many keys, on a node's filter or on one in memory.
type querier interface {
	// Each runs v for batches of keys, and calls answered with each batch and its answers: 1
	// for yes and 0 for no, or a count.
	Each(ctx context.Context, v remote.Verb, batches iter.Seq2[[][]byte, error], answered func(keys [][]byte, ns []uint64) error) error
	// Keys runs v for a batch of keys and returns the answers.
	Keys(ctx context.Context, v remote.Verb, keys [][]byte) ([]uint64, error)
}

// querier returns the querier of a filter.
func (t target) querier(ctx context.Context, name string) (querier, error) {
	if t.node != nil {
		f, _, err := t.node.Filter(ctx, name)
		return f, err
	}
	if isReadWhole(name) {
		return t.clock().openToQuery(name)
	}
	x, err := container.OpenToQuery(name, filter.All)
	switch {
	case err != nil:
		return nil, err
	case x.Packed():
		return packedFile{name, x}, nil
	}
	return t.clock().localIn(name, x)
}

// isReadWhole reports whether a file is one of another program, or a pipe, which may have one.
func isReadWhole(name string) bool {
	form, regular := foreignfile.OfFile(name)
	return form != "" || !regular
}

// openToQuery returns the filter in a file to be queried: in its file if that is possible, or in memory, at the present time
// if it follows the clock.
func (c clock) openToQuery(name string) (local, error) {
	if isReadWhole(name) {
		f, err := c.openFile(name)
		return local{name, f, nil}, err
	}
	x, err := container.OpenToQuery(name, filter.All)
	if err != nil {
		return local{}, err
	}
	return c.localIn(name, x)
}

// localIn is openToQuery for a file that is open.
func (c clock) localIn(name string, x *mapped.Filter) (_ local, err error) {
	var f umbel.Filter
	if err := x.Query(1, func(g umbel.Filter) { f = g }); err != nil {
		return local{}, err
	}
	s := x.State()
	switch {
	case x.InPlace() && s.Notes.Tick == 0:
		return local{name, f, x}, nil
	case x.InPlace(): // to advance it changes its cells
		if err = x.Close(); err == nil {
			f, err = c.openFile(name)
		}
	default:
		w, ok, wrong := c.presentWindows(s)
		if wrong != nil {
			return local{}, fmt.Errorf("%s: %w", name, wrong)
		}
		if ok {
			f, err = c.openState(name, w.State(), nil)
		} else {
			c.follow(f)
		}
	}
	return local{name, f, nil}, err
}

// local is a filter in memory, or in its file.
type local struct {
	name string
	umbel.Filter
	file *mapped.Filter // nil if it is in memory
}

// query calls read, which queries n digests.
func (l local) query(n int, read func()) error {
	if l.file == nil {
		read()
		return nil
	}
	if err := l.file.Query(n, func(umbel.Filter) { read() }); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return nil
}

// batchFunc answers a batch of keys, given their digests.
type batchFunc func(ns []uint64, ds []umbel.Digest, keys [][]byte)

// batchFunc returns the function of a verb.
func (l local) batchFunc(v remote.Verb) (batchFunc, error) {
	switch v {
	case remote.Count:
		c, err := require[umbel.Counter](l.name, l.Filter, opCount)
		return func(ns []uint64, ds []umbel.Digest, keys [][]byte) {
			for i, d := range ds {
				ns[i], _ = countKey(c, keys[i], d)
			}
		}, err
	case remote.Remove:
		r, err := require[umbel.Remover](l.name, l.Filter, opRemove)
		return func(ns []uint64, ds []umbel.Digest, keys [][]byte) {
			for i, d := range ds {
				ns[i] = AnswerOf(removeKey(r, keys[i], d))
			}
		}, err
	}
	return l.has(), nil
}

// has queries a batch of keys at once, and again those with a class of their own.
func (l local) has() batchFunc {
	_, classes := l.Filter.(umbel.Classifier)
	var has []bool
	return func(ns []uint64, ds []umbel.Digest, keys [][]byte) {
		has = slices.Grow(has[:0], len(ds))[:len(ds)]
		umbel.HasAll(l.Filter, has, ds)
		for i, yes := range has {
			if yes && classes { // the key's class may have more cells
				yes = hasKey(l.Filter, keys[i], ds[i])
			}
			ns[i] = AnswerOf(yes)
		}
	}
}

// AnswerOf returns the answer of a query as a number: 1 for yes, 0 for no.
func AnswerOf(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// Keys implements [querier], except for adding keys.
func (l local) Keys(ctx context.Context, v remote.Verb, list [][]byte) ([]uint64, error) {
	return oneBatch(ctx, l, v, list)
}

// oneBatch is Keys by Each.
func oneBatch(ctx context.Context, q querier, v remote.Verb, list [][]byte) ([]uint64, error) {
	var answers []uint64
	batch := func(yield func([][]byte, error) bool) { yield(list, nil) }
	err := q.Each(ctx, v, batch, func(_ [][]byte, ns []uint64) error {
		answers = append(answers, ns...)
		return nil
	})
	return answers, err
}

// Each implements [querier], except for adding keys.
func (l local) Each(_ context.Context, v remote.Verb, batches iter.Seq2[[][]byte, error], answered func([][]byte, []uint64) error) error {
	do, err := l.batchFunc(v)
	if err != nil {
		return err
	}
	return inBatches(l.State().Hasher, batches, answered, func(ns []uint64, ds []umbel.Digest, list [][]byte) error {
		return l.query(len(ds), func() { do(ns, ds, list) })
	})
}

// inBatches answers batches of keys, in batches of at most 1024 digests.
func inBatches(h umbel.Hasher, batches iter.Seq2[[][]byte, error], answered func([][]byte, []uint64) error,
	query func(ns []uint64, ds []umbel.Digest, list [][]byte) error) error {
	const most = 1024 // digests that stay in cache
	ds, ns := make([]umbel.Digest, 0, most), make([]uint64, most)
	for batch, err := range batches {
		if err != nil {
			return err
		}
		for list := range slices.Chunk(batch, most) {
			ds = ds[:0]
			for _, key := range list {
				d, err := keys.Digest(h, key)
				if err != nil {
					return err
				}
				ds = append(ds, d)
			}
			if err := query(ns, ds, list); err != nil {
				return err
			}
			if err := answered(list, ns[:len(list)]); err != nil {
				return err
			}
		}
	}
	return nil
}
