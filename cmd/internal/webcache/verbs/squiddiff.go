package verbs

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

const squidDiffHelp = `Compare two cache digests of one Squid: how many bits were set and cleared, how many objects were added
and removed by that, approximately, and how many bytes a delta of umbel has. Squid itself sends the
whole digest each time. The files may also be filters of kind squid.`

const squidDiffExample = `  umbel-cache squid diff before.digest after.digest`

// digestDiff is the difference of two digests.
type digestDiff struct {
	Old     string    `json:"old"`
	New     string    `json:"new"`
	Set     uint64    `json:"set"` // bits
	Cleared uint64    `json:"cleared"`
	Cells   uint64    `json:"cells"`
	Added   cli.Float `json:"added"` // objects, estimated; null if all cells are set
	Removed cli.Float `json:"removed"`
	Bytes   uint64    `json:"bytes"`      // of the new digest
	Delta   int       `json:"deltaBytes"` // of umbel
}

func squidDiffCommand() *cobra.Command {
	return cli.Verb(&cobra.Command{
		Use:     "diff OLD NEW",
		Short:   "compare two cache digests",
		Long:    squidDiffHelp,
		Example: squidDiffExample,
		Args:    cli.Arguments(2, 2),
	}, squidDiff)
}

func squidDiff(_ context.Context, streams *cli.Streams, args []string) error {
	var fs [2]*squid.Filter
	for i, path := range args {
		var err error
		if fs[i], err = readSquid(streams, path); err != nil {
			return err
		}
	}
	b, err := container.Differ().Append(nil, fs[0].State(), fs[1].State())
	if err != nil {
		return fmt.Errorf("%s and %s: %w", args[0], args[1], err)
	}
	d := digestDiff{Old: args[0], New: args[1], Delta: len(b)}
	if err := d.compare(fs[0], fs[1]); err != nil {
		return err
	}
	return streams.Answer(d, d.Write)
}

// compare counts the bits that differ. A bit that k·n additions left zero with a probability of (1-1/m)^(k·n) does not
// depend on earlier objects; so the share of the zeros of old that are ones in next gives the number of objects
// that were added, and that of the zeros of next that were ones the number of those that were removed.
func (d *digestDiff) compare(old, next *squid.Filter) error {
	a, b := old.State().Arrays[0], next.State().Arrays[0]
	if a.Len != b.Len {
		return fmt.Errorf("%s has %v cells and %s has %v; a Squid chooses another size if its number of objects changes by a "+
			"tenth, and then there are no common bits", d.Old, quantity.Count(a.Len), d.New, quantity.Count(b.Len))
	}
	d.Cells, d.Bytes = a.Len, squid.BlockBytes+a.Len/8
	for i, w := range a.Words {
		d.Set += uint64(bits.OnesCount64(b.Words[i] &^ w))
		d.Cleared += uint64(bits.OnesCount64(w &^ b.Words[i]))
	}
	objects := func(changed, zeros uint64) cli.Float {
		if zeros == 0 {
			return 0
		}
		m := float64(d.Cells)
		return cli.Float(math.Log1p(-float64(changed)/float64(zeros)) / math.Log1p(-1/m) / squid.K)
	}
	d.Added = objects(d.Set, d.Cells-a.Nonzero())
	d.Removed = objects(d.Cleared, d.Cells-b.Nonzero())
	return nil
}

func (d digestDiff) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%v of %v bits differ: %v set, %v cleared\nobjects added: about %s; removed: about %s\nthe "+
		"digest has %v bytes, a delta of umbel %v\n",
		quantity.Count(d.Set+d.Cleared), quantity.Count(d.Cells), quantity.Count(d.Set), quantity.Count(d.Cleared),
		filters.WholeKeys(float64(d.Added)), filters.WholeKeys(float64(d.Removed)), quantity.Count(d.Bytes), quantity.Count(d.Delta))
	return err
}
