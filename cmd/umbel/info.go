package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
)

const infoHelp = `Say what the filters in the files are: kind, hash, parameters, size, an estimate of
the number of distinct keys with an interval that holds it with probability 0.95,
fill (the share of cells that aren't zero), the false-positive rate at that fill,
bytes in memory and in the file, and the ID, which is the same for the same filter and
no other. The sent size is that of the filter packed (see umbel pack), beside the least
to which a code can bring the cells of its blocks, and the codings that this takes.

Of a delta it says from which filter to which it leads, by their IDs.

Of a filter that is made of others, each of them has a line: its number, kind, cells,
keys, fill, rate and size.

Of a filter of a node (--addr) it says what the node knows without reading all cells, and
when the filter expires; its figures may lag behind by a hundredth of the keys.

Of a filter whose kind umbel doesn't know, it says what the container tells. With
--json there is an object for each file.`

const infoExample = `  umbel info words.umb
  umbel info --json *.umb | jq .fpRate
  umbel info users --addr 127.0.0.1:8780`

// info is what umbel info says of one file.
type info struct {
	File      string           `json:"file"`
	Kind      string           `json:"kind"`
	Known     bool             `json:"known"` // the kind
	Hash      string           `json:"hash"`
	Seed      string           `json:"seed"`
	Params    map[string]float `json:"params"`
	Planes    []planeInfo      `json:"planes"`
	Parts     []partInfo       `json:"parts"`
	Cells     uint64           `json:"cells"`
	K         float            `json:"k"`
	Keys      *keysInfo        `json:"keys,omitempty"`
	Fill      float            `json:"fill"`
	FPRate    *float           `json:"fpRate,omitempty"`
	Bytes     uint64           `json:"bytes"`
	FileBytes int64            `json:"fileBytes"`
	Sent      packedInfo       `json:"sent"`
	ID        string           `json:"id"`

	hasher   umbel.Hasher
	params   umbel.Params
	ownParts int // of Parts, those that aren't parts of parts
}

type planeInfo struct {
	Cells   uint64 `json:"cells"`
	Width   uint   `json:"width"` // bits
	Nonzero uint64 `json:"nonzero"`
}

type keysInfo struct {
	Estimate float `json:"estimate"`
	Low      float `json:"low"`
	High     float `json:"high"`
}

func infoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "info FILE...",
		Short:   "say what a filter is",
		Long:    infoHelp,
		Example: infoExample,
		Args:    arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := placeOf(cmd)
			if err != nil {
				return err
			}
			for i, name := range args {
				if i > 0 && !wantsJSON(cmd) {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := p.info(name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addAddrFlags(cmd)
	return cmd
}

// info says what is in a file, or what a filter of a node is.
func (p place) info(name string) error {
	if p.node != nil {
		in, err := p.node.Info(p.cmd.Context(), name)
		if err != nil {
			return err
		}
		there := newHeldInfo(in)
		return answer(p.cmd, there, there.write)
	}
	if container.IsDelta(name) {
		return inspectDelta(p.cmd, name)
	}
	stop := note(p.cmd, "measuring "+name)
	in, err := inspect(name)
	stop()
	if err != nil {
		return err
	}
	return answer(p.cmd, in, in.write)
}

// inspect reads a container and measures the filter in it.
func inspect(name string) (info, error) {
	s, size, err := container.Read(name)
	if err != nil {
		return info{}, err
	}
	in := info{
		File: name, Kind: s.Kind, Hash: s.Hasher.Alg.String(), Seed: fmt.Sprintf("%x", s.Hasher.Seed.Bytes()),
		Params: map[string]float{}, Planes: []planeInfo{}, Parts: partsOf(s, ""), Bytes: s.Bytes(), FileBytes: size,
		ID: wire.Identify(s).String(), hasher: s.Hasher, params: s.Params, ownParts: len(s.Parts),
	}
	for _, p := range s.Params {
		in.Params[p.Name] = float(p.Value.Float())
	}
	for _, p := range s.Arrays {
		in.Planes = append(in.Planes, planeInfo{p.Len, max(p.Width, 1), p.Nonzero()})
	}
	in.Cells, in.Fill = cellsOf(s)
	if in.Sent, err = packed(s); err != nil {
		return info{}, fmt.Errorf("%s: %w", name, err)
	}
	f, err := filter.All.Open(s)
	if errors.Is(err, umbel.ErrKind) {
		return in, nil
	}
	if err != nil {
		return info{}, fmt.Errorf("%s: %w", name, err)
	}
	in.Known = true
	in.measure(f.Stats())
	return in, nil
}

func (in *info) measure(s umbel.Stats) {
	rate := float(s.FPRate)
	in.Cells, in.K, in.Fill, in.FPRate = s.Cells, float(s.K), float(s.Fill), &rate
	in.Keys = &keysInfo{float(s.Keys), float(s.Low), float(s.High)}
}

func (in info) write(w io.Writer) error {
	t := table.New("", "")
	t.Row("file", in.File)
	if in.Known {
		t.Row("kind", in.Kind)
	} else {
		t.Row("kind", in.Kind+" (not known to this umbel)")
	}
	t.Row("hash", hashText(in.hasher))
	var params []string
	for _, p := range in.params {
		params = append(params, p.Name+" "+p.Value.String())
	}
	name := "parameters"
	for _, line := range wrap(params, 76) {
		t.Row(name, line)
		name = ""
	}
	for i, p := range in.Planes {
		name := "cells"
		if len(in.Planes) > 1 {
			name = fmt.Sprintf("cells %d", i)
		}
		t.Row(name, quantity.Count(p.Cells).String()+widthWords(p.Width))
	}
	if len(in.Parts) > 0 {
		t.Row("parts", fmt.Sprint(in.ownParts))
		if len(in.Planes) == 0 && in.Known {
			t.Row("cells", quantity.Count(in.Cells).String()+", of all parts")
		}
	}
	if in.Known {
		if _, told := in.Params["k"]; !told {
			t.Row("k", fmt.Sprintf("%.4g", in.K))
		}
		t.Row("keys", in.Keys.words())
	}
	if in.Cells > 0 {
		t.Row("fill", fmt.Sprintf("%.4f", in.Fill))
	}
	if in.Known {
		t.Row("rate", rateOf(float64(*in.FPRate)))
	}
	t.Row("memory", fmt.Sprintf("%v, %v bytes", quantity.Size(in.Bytes), quantity.Count(in.Bytes)))
	t.Row("file size", quantity.Count(in.FileBytes).String()+" bytes")
	t.Row("sent size", fmt.Sprintf("%v bytes packed; the entropy of the cells is %v bytes", quantity.Count(in.Sent.Packed), quantity.Count(math.Ceil(float64(in.Sent.EntropyBytes)))))
	t.Row("blocks", in.Sent.blocks()+", when packed")
	t.Row("id", in.ID)
	if _, err := t.WriteTo(w); err != nil || len(in.Parts) == 0 {
		return err
	}
	fmt.Fprintln(w)
	return writeParts(w, in.Parts)
}

func (k keysInfo) words() string {
	return fmt.Sprintf("about %s, from %s to %s", wholeKeys(float64(k.Estimate)), wholeKeys(float64(k.Low)), wholeKeys(float64(k.High)))
}

// wrap joins items with commas, in lines of at most so many characters where it can.
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

// widthWords says how wide cells are.
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
