package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/api"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

// make makes a filter on a node and adds the keys of the files. If that fails there is none
// afterwards, as there is no file.
func (p place) make(name string, order build.Order, hash, seed string, format keys.Format, files []*os.File) error {
	order.Keys = keys.Job{Format: format, Workers: 1} // counts
	order, sized, err := order.Sized(files)
	if err != nil {
		return err
	}
	if !sized {
		return usageError(p.cmd, errors.New("a node can't wait for the number of keys of a pipe: give --keys, or name files"))
	}
	forecast, err := order.Kind.Plan(order.Goal, order.Params)
	if err != nil {
		return err
	}
	ctx := p.cmd.Context()
	if _, err := p.node.Make(ctx, name, orderOf(order, hash, seed)); err != nil {
		return err
	}
	batches, stop := readKeys(p.cmd, format, files)
	read, err := addThere(ctx, p.node, name, batches)
	stop()
	var in remote.Info
	if err == nil {
		in, err = p.made(ctx, name, order, forecast.Keys, read)
	}
	if err != nil {
		return p.undo(name, err)
	}
	s := summaryOf(name, in)
	s.Read = &read
	return s.print(p.cmd, quantity.Count(read).String()+" keys read")
}

// made seals a filter that can be, and returns what it is: an error if it has more keys than it is
// for, unless it makes room for them by itself.
func (p place) made(ctx context.Context, name string, order build.Order, planned, read uint64) (remote.Info, error) {
	in, err := p.node.Info(ctx, name)
	if err == nil && slices.Contains(in.Can, "seal") {
		in, err = p.node.Seal(ctx, name)
	}
	if err != nil || slices.Contains(in.Can, "grow") || slices.Contains(in.Can, "advance") {
		return in, err
	}
	s := summaryOf(name, in)
	return in, order.Check(umbel.Stats{Keys: float64(s.Keys), Low: float64(s.Low), High: float64(s.High), FPRate: float64(s.FPRate)}, planned, read)
}

// orderOf returns an order as a node takes it; its own hash if none is given.
func orderOf(o build.Order, hash, seed string) api.FilterSpec {
	order := api.FilterSpec{
		Kind: o.Kind.Name, Keys: api.Whole(o.Goal.Keys), FPRate: o.Goal.FPRate, Bytes: api.Whole(o.Goal.Bytes),
		Hash: hash, Params: map[string]json.Number{},
	}
	if seed != "" {
		order.Seed = &seed
	}
	for _, p := range o.Params {
		order.Params[p.Name] = json.Number(strconv.FormatFloat(p.Value.Float(), 'g', -1, 64))
	}
	return order
}
