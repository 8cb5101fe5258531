package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
	"github.com/umbel-filters/umbel/filter"
)

// place is where the filters are that a verb names: in files, or on the node of --addr.
type place struct {
	cmd  *cobra.Command
	node *remote.Client // nil: in files
}

// placeOf returns the place that the flags of a verb say.
func placeOf(cmd *cobra.Command) (place, error) {
	node, err := dial(cmd)
	return place{cmd, node}, err
}

// open returns a filter: the one in a file, or a copy of a node's.
func (p place) open(name string) (umbel.Filter, error) {
	if p.node == nil {
		f, _, err := container.Open(name, filter.All)
		return f, err
	}
	return p.fetch(name)
}

// fetch returns a copy of a node's filter.
func (p place) fetch(name string) (umbel.Filter, error) {
	in, err := p.node.Info(p.cmd.Context(), name)
	if err != nil {
		return nil, err
	}
	if err := container.Fits("a copy of "+name, in.Bytes); err != nil {
		return nil, err
	}
	defer note(p.cmd, "fetching "+name)()
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		_, err := p.node.Get(p.cmd.Context(), name, false, w)
		w.CloseWithError(err)
	}()
	s, err := container.Receive(r)
	if said, ok := errors.AsType[*remote.Error](err); ok {
		return nil, said
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return filter.All.Open(s)
}

// change is what a verb does to a filter: in memory, and by asking a node.
type change struct {
	here  func(umbel.Filter) (umbel.Filter, error)
	there func(ctx context.Context, n *remote.Client, name string) (remote.Info, error)
}

// change changes a filter, or, if output names another, makes that one of it and leaves it as it
// was. It returns what is to be said of the result.
func (p place) change(name, output string, c change) (summary, error) {
	target := orInPlace(output, name)
	if p.node != nil {
		in, err := p.changeThere(name, target, c)
		return summaryOf(target, in), err
	}
	f, _, err := container.Open(name, filter.All)
	if err != nil {
		return summary{}, err
	}
	if f, err = c.here(f); err != nil {
		return summary{}, err
	}
	if err := container.Write(target, f.State()); err != nil {
		return summary{}, err
	}
	return summarize(target, f), nil
}

// changeThere is change on a node. A copy that can't be changed as it should be is deleted.
func (p place) changeThere(name, target string, c change) (remote.Info, error) {
	ctx := p.cmd.Context()
	if target == name {
		return c.there(ctx, p.node, name)
	}
	if _, err := p.node.Copy(ctx, name, target); err != nil {
		return remote.Info{}, err
	}
	in, err := c.there(ctx, p.node, target)
	if err != nil {
		err = p.undo(target, err)
	}
	return in, err
}

// undo deletes what a verb made before it failed.
func (p place) undo(name string, failed error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(p.cmd.Context()), 10*time.Second)
	defer stop()
	if err := p.node.Delete(ctx, name); err != nil {
		return fmt.Errorf("%w; %s was made and couldn't be deleted: %w", failed, name, err)
	}
	return failed
}
