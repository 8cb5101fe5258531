package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

const infoHelp = `Describe the filters in the files: kind, hash, parameters, size, the estimated number of
distinct keys with its 95% confidence interval, the fill ratio (the share of cells that aren't
zero), the false-positive rate at that fill, bytes in memory and in the file, and the ID, which
identifies the contents. The sent size is that of the packed filter (umbel convert --as packed), next to
the entropy of its cells; the codings of its blocks follow. Above 16 MiB of cells it is estimated
from a part of them; umbel convert --as packed -o /dev/null measures it.

Next to the rate is what the filter was made for, if that is known: a rate with a number of
keys. A filter is overfull if its rate is more than twice that rate, for few keys more.

For kinds of fixed size, a curve shows how the rate grows with the number of keys, and a mark where
the filter is, and where it was planned to be.

For a delta it prints the IDs of base and result. A cache digest of Squid, a file NixBloom and a dump of Redis are
described like the filters that umbel convert makes of them; umbel has and umbel diff read these files, too.

A filter with parts has one line per part: number, kind, cells, keys, fill, rate and size. For a
window it prints when a key expires after it was added. A window that follows the system's clock is
described at the present time; ID and sent size are those of the file. If the time of a window can be
one in seconds since 1970, it is printed as a date; otherwise times are in ticks.

For a filter on a node (--addr) it prints what the node knows without reading all cells, and
when the filter expires. Estimates may lag behind by 1% of the keys.

For an unknown kind it prints the contents of the container. With --json it prints one object
per file. If a file can't be described, the others are, and the exit code is 2.`

const infoExample = `  umbel info words.umb
  umbel info --json *.umb | jq .fpRate
  umbel info users --addr 127.0.0.1:8780`

// info is the description of a file.
type info struct {
	File      string               `json:"file"`
	Kind      string               `json:"kind"`
	Known     bool                 `json:"known"`          // to this umbel
	Form      string               `json:"form,omitempty"` // of the file, if it is of another program
	Hash      string               `json:"hash"`
	Seed      string               `json:"seed"`
	Params    map[string]cli.Float `json:"params"`
	Arrays    []arrayInfo          `json:"arrays"`
	Parts     []partInfo           `json:"parts"`
	Cells     uint64               `json:"cells"`
	K         cli.Float            `json:"k"`
	Keys      *api.Estimate        `json:"keys,omitempty"`
	Fill      cli.Float            `json:"fill"`
	FPRate    *cli.Float           `json:"fpRate,omitempty"`
	Planned   *api.Planned         `json:"planned,omitempty"`
	Bytes     uint64               `json:"bytes"`
	FileBytes int64                `json:"fileBytes,omitempty"` // 0 for a pipe
	Sent      packedInfo           `json:"sent"`
	ID        string               `json:"id"`

	hasher   umbel.Hasher
	params   umbel.Params
	expires  string   // when the keys of a window do
	ownParts int      // of Parts, without parts of parts
	curve    []string // lines of text
}

type arrayInfo struct {
	Cells   uint64 `json:"cells"`
	Width   uint   `json:"width"` // bits
	Nonzero uint64 `json:"nonzero"`
}

// InfoCommand is umbel info.
func InfoCommand() *cobra.Command {
	o := new(infoOptions)
	cmd := &cobra.Command{
		Use:     "info FILE...",
		Short:   "describe a filter",
		Long:    infoHelp,
		Example: infoExample,
		Args:    cli.Arguments(1, -1),
	}
	cli.AddAddrFlags(cmd, &o.node)
	return cli.Verb(cmd, o.run)
}

// infoOptions are the flags of umbel info.
type infoOptions struct{ node cli.Node }

func (o *infoOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	t, err := targetOf(streams, o.node, Tolerance{})
	if err != nil {
		return err
	}
	var failed error
	for i, name := range args {
		if i > 0 && !streams.JSON {
			fmt.Fprintln(streams.Out)
		}
		failed = errors.Join(failed, t.info(ctx, name))
	}
	return failed
}

// info describes a file, or a filter on a node.
func (t target) info(ctx context.Context, name string) error {
	if t.node != nil {
		in, err := t.node.Info(ctx, name)
		if err != nil {
			return err
		}
		there := newNodeFilterInfo(in)
		return t.Answer(there, there.Write)
	}
	if container.IsDelta(name) {
		return inspectDelta(t.Streams, name)
	}
	stop := t.Note("measuring " + name)
	in, err := t.clock().inspect(name)
	stop()
	if err != nil {
		return err
	}
	return t.Answer(in, in.Write)
}

// inspect describes the filter in a container.
func (c clock) inspect(name string) (info, error) {
	from, err := readSource(quietly, []string{name}, wire.Read)
	if err != nil {
		return info{}, err
	}
	s := from.state
	in := info{
		File: name, Kind: s.Kind, Hash: s.Hasher.Alg.String(), Seed: fmt.Sprintf("%x", s.Hasher.Seed.Bytes()),
		FileBytes: from.size, Form: from.form, ID: hashtree.Identify(s).String(), hasher: s.Hasher,
	}
	if in.Sent, err = nearlyPacked(s); err != nil {
		return info{}, fmt.Errorf("%s: %w", name, err)
	}
	w, ok, err := c.presentWindows(s)
	if err != nil {
		return info{}, fmt.Errorf("%s: %w", name, err)
	}
	if ok {
		s = w.State()
	}
	f, err := filter.All.Open(s)
	if err != nil && !errors.Is(err, umbel.ErrKind) {
		return info{}, fmt.Errorf("%s: %w", name, err)
	}
	if err == nil && c.follow(f) {
		s = f.State() // at the present time
	}
	in.contents(s)
	if err != nil {
		return in, nil
	}
	in.Known = true
	in.measure(f.Stats())
	in.Planned = api.NewPlanned(s.Planned, s.Planned.Exceeded(float64(*in.FPRate)))
	in.curve = rateCurve(f, s.Kind, float64(in.Keys.Estimate), s.Planned.Keys)
	return in, nil
}

// contents describes the parameters, arrays and parts of a state.
func (in *info) contents(s umbel.State) {
	in.params, in.Params = s.Params, map[string]cli.Float{}
	for _, p := range s.Params {
		in.Params[p.Name] = cli.Float(p.Value.Float())
	}
	in.Arrays = []arrayInfo{}
	for _, p := range s.Arrays {
		in.Arrays = append(in.Arrays, arrayInfo{p.Len, p.Width, p.Nonzero()})
	}
	in.Parts, in.ownParts, in.Bytes = partsOf(s), len(s.Parts), s.Bytes()
	in.Cells, in.Fill = cellsOf(s)
	if span, ok := windowSpan(s); ok {
		in.expires = span.words()
	}
}

func (in *info) measure(s umbel.Stats) {
	rate := cli.Float(s.FPRate)
	in.Cells, in.K, in.Fill, in.FPRate = s.Cells, cli.Float(s.K), cli.Float(s.Fill), &rate
	keys := api.NewEstimate(s)
	in.Keys = &keys
}

func (in info) Write(w io.Writer) error {
	t := table.New("", "")
	t.Row("file", in.File)
	if in.Form != "" {
		t.Row("form", in.Form)
	}
	if in.Known {
		t.Row("kind", in.Kind)
	} else {
		t.Row("kind", in.Kind+" (unknown kind)")
	}
	t.Row("hash", hashText(in.hasher))
	var params []string
	for _, p := range in.params {
		params = append(params, p.Name+" "+p.Value.String())
	}
	name := "parameters"
	for _, line := range wrap(params, cli.PageWidth()-labelWidth) {
		t.Row(name, line)
		name = ""
	}
	if in.expires != "" {
		t.Row("keys expire", in.expires)
	}
	for i, p := range in.Arrays {
		name := "cells"
		if len(in.Arrays) > 1 {
			name = fmt.Sprintf("cells %d", i)
		}
		t.Row(name, quantity.Count(p.Cells).String()+widthWords(p.Width))
	}
	if len(in.Parts) > 0 {
		t.Row("parts", fmt.Sprint(in.ownParts))
		if len(in.Arrays) == 0 && in.Known {
			t.Row("cells", quantity.Count(in.Cells).String()+" in all parts")
		}
	}
	if in.Known {
		if _, ok := in.Params["k"]; !ok {
			t.Row("k", fmt.Sprintf("%.4g", in.K))
		}
		t.Row("keys", keysWords(*in.Keys, in.Kind))
	}
	if in.Cells > 0 {
		t.Row("fill", fmt.Sprintf("%.4f", in.Fill))
	}
	if in.Known {
		t.Row("rate", cli.RateOf(float64(*in.FPRate)))
		if in.Planned != nil {
			t.Row("planned", PlannedPainted(*in.Planned))
		}
		name := "by keys"
		for _, line := range in.curve {
			t.Row(name, line)
			name = ""
		}
	}
	t.Row("memory", fmt.Sprintf("%v, %v bytes", quantity.Size(in.Bytes), quantity.Count(in.Bytes)))
	if in.FileBytes > 0 {
		t.Row("file size", quantity.Count(in.FileBytes).String()+" bytes")
	}
	if in.Sent.Estimated {
		t.Row("sent size", fmt.Sprintf("about %v packed, from a sample of the cells", quantity.Size(in.Sent.Packed)))
	} else {
		t.Row("sent size", fmt.Sprintf("%v bytes packed; the entropy of the cells is %v bytes", quantity.Count(in.Sent.Packed),
			quantity.Count(math.Ceil(float64(in.Sent.EntropyBytes)))))
		t.Row("blocks", in.Sent.blocks()+" when packed")
	}
	t.Row("id", in.ID)
	if _, err := t.WriteTo(w); err != nil || len(in.Parts) == 0 {
		return err
	}
	fmt.Fprintln(w)
	return writeParts(w, in.Parts)
}

// labelWidth is the width of the labels of umbel info with the space after them.
const labelWidth = len("parameters  ")

// wrap joins items with commas, in lines of at most width characters if possible.
func wrap(items []string, width int) []string {
	var lines []string
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(item) <= width {
			lines[last] += " " + item
		} else {
			lines = append(lines, item)
		}
	}
	return lines
}

// widthWords describes cells of a width.
func widthWords(bits uint) string {
	if bits == 1 {
		return " bits"
	}
	return fmt.Sprintf(" counters of %d bits", bits)
}

// hashText returns the algorithm and the seed of a hasher. The seed is in the file that the
// user reads.
func hashText(h umbel.Hasher) string {
	if h.Seed == (umbel.Seed{}) {
		return h.Alg.String()
	}
	return fmt.Sprintf("%s, seed %x", h.Alg, h.Seed.Bytes())
}

// deltaInfo is the description of a delta.
type deltaInfo struct {
	File      string `json:"file"`
	Base      string `json:"base"`
	Result    string `json:"result"`
	Kind      string `json:"kind"`
	Bytes     uint64 `json:"bytes,omitempty"` // of the result, in memory; none if it is that of the base
	FileBytes uint64 `json:"fileBytes"`
}

// inspectDelta describes a delta from its header.
func inspectDelta(streams *cli.Streams, name string) error {
	b, d, err := container.ReadDelta(name)
	if err != nil {
		return err
	}
	in := deltaInfo{name, d.Base.String(), d.Result.String(), d.Kind, d.Bytes, uint64(len(b))}
	return streams.Answer(in, func(w io.Writer) error {
		t := table.New("", "")
		t.Row("file", in.File)
		t.Row("kind", "delta of a filter of kind "+in.Kind)
		t.Row("base id", in.Base)
		t.Row("result id", in.Result)
		if in.Bytes > 0 {
			t.Row("memory", fmt.Sprintf("%v, %v bytes, for the result", quantity.Size(in.Bytes), quantity.Count(in.Bytes)))
		}
		t.Row("file size", quantity.Count(in.FileBytes).String()+" bytes")
		_, err := t.WriteTo(w)
		return err
	})
}
