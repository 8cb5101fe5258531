package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/picture"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

const messageKeys = 10_000

// shapes are the filters of docs/messages.md for 10,000 keys at 1 %: the smallest message, and the
// least memory.
var shapes = []struct {
	name  string
	shape bloom.Shape
}{
	{"995,008 cells, k 1", bloom.Shape{M: 995_008, K: 1, Group: 6}},
	{"95,936 cells, k 7", bloom.Shape{M: 95_936, K: 7, Group: 6}},
}

// filled returns a filter with the numbers from first on as keys, in decimal, as those that
// seq prints.
func filled(s bloom.Shape, first, keys int) (*bloom.Filter, error) {
	f, err := bloom.NewShape(s)
	if err != nil {
		return nil, err
	}
	for i := range keys {
		f.AddString(strconv.Itoa(first + i))
	}
	return f, nil
}

// drawDeltas draws the sizes of a packed filter and of its deltas, as bars.
func drawDeltas(w io.Writer, _ string) error {
	const left, right, top, step, group = 200, 90, 60, 24, 34
	const width = 640
	shares := []int{200, 50, 10, 1} // replaced keys, in thousandths
	height := float64(top + len(shapes)*(group+step*(len(shares)+1)) + 10)
	title := fmt.Sprintf("Bytes of a filter of %v keys, and of its deltas", quantity.Count(messageKeys))
	c := picture.NewCanvas(w, width, height, title, "Bars with the bytes of the packed filter and of the delta if a share of the keys is replaced.")
	c.Text(20, 26, "strong", title)
	c.Text(20, 44, "muted", "a receiver of the old filter needs only the delta")
	y, scale := float64(top), 0.0
	bar := func(name, class string, bytes int) {
		y += step
		c.Text(left-10, y-5, "end", name)
		c.Rect(left, y-step+6, scale*float64(bytes), step-7, class, "")
		c.Text(left+scale*float64(bytes)+6, y-5, "muted", quantity.Count(bytes).String())
	}
	for _, s := range shapes {
		base, err := filled(s.shape, 1, messageKeys)
		if err != nil {
			return err
		}
		whole, err := wire.Packer{}.Append(nil, base.State())
		if err != nil {
			return err
		}
		if scale == 0 {
			// The plain filter, the last of shapes, is the largest.
			scale = (width - left - right) / float64(shapes[len(shapes)-1].shape.M/8)
		}
		y += group - 8
		c.Text(20, y, "ink", s.name)
		y += 8
		bar("packed filter", "fill0", len(whole))
		for _, share := range shares {
			next, err := filled(s.shape, 1+messageKeys*share/1000, messageKeys)
			if err != nil {
				return err
			}
			update, err := delta.Append(nil, base.State(), next.State())
			if err != nil {
				return err
			}
			bar(fmt.Sprintf("delta, %g %% replaced", float64(share)/10), "fill2", len(update))
		}
	}
	return c.Close()
}

// drawBlocks compares the loads of the blocks of a bloom and of a blocked filter.
func drawBlocks(w io.Writer, _ string) error {
	const keys, rate = 1_000_000, 0.01
	plain, err := bloom.New(keys, rate)
	if err != nil {
		return err
	}
	clustered, err := blocked.New(keys, rate)
	if err != nil {
		return err
	}
	for i := range uint64(keys) {
		umbel.AddKey(plain, i)
		umbel.AddKey(clustered, i)
	}
	view := func(f umbel.Filter) picture.View {
		a := f.State().Arrays[0]
		return picture.View{Array: a, Cells: a.Len}
	}
	return picture.OverviewSVG(w, fmt.Sprintf("Cells set per cache line of 512 bits, %v keys, 1 %%", quantity.Count(keys)), []picture.Part{
		{Name: bloom.Name, View: view(plain)}, {Name: blocked.Name, View: view(clustered)},
	})
}
