package filters

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/filter/union"
)

const intersectHelp = `Estimate how many keys are in both filters, and in one of them only, with intervals of about 95%
confidence. The estimate is the keys in A, plus those in B, minus those in the union, each from the number of
set cells. It is coarse if A and B share few keys. No filter of the shared keys is made.

Both must be filters of bits with the same hash and kind, but a counting filter takes part with
its nonzero counters, and a folding filter with its folded filter, so kinds bloom, counting and
folding can be compared with each other, of any sizes and k. The intervals are wide if one filter is much
smaller than the other: one that is made with make --like of the larger has narrower ones. Filters of other
kinds and different sizes are folded to a common divisor, if there is one close to both.`

const intersectExample = `  umbel intersect monday.umb tuesday.umb
  umbel intersect --json a.umb b.umb | jq .both.estimate`

// intersection is the result of umbel intersect.
type intersection struct {
	A     setInfo `json:"a"`
	B     setInfo `json:"b"`
	Union setInfo `json:"union"`
	Both  setInfo `json:"both"`
	OnlyA setInfo `json:"onlyA"`
	OnlyB setInfo `json:"onlyB"`
	Cells uint64  `json:"cells,omitempty"` // 0: at their own sizes
}

// IntersectCommand is umbel intersect.
func IntersectCommand() *cobra.Command {
	o := new(intersectOptions)
	cmd := &cobra.Command{
		Use:     "intersect FILE FILE",
		Short:   "estimate how many keys two filters share",
		Long:    intersectHelp,
		Example: intersectExample,
		Args:    cli.Arguments(2, 2),
	}
	cli.AddAddrFlags(cmd, &o.node)
	return cli.Verb(cmd, o.run)
}

// intersectOptions are the flags of umbel intersect.
type intersectOptions struct{ node cli.Node }

func (options *intersectOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	t, err := targetOf(streams, options.node, Tolerance{})
	if err != nil {
		return err
	}
	if t.node == nil {
		found, err := intersect(ctx, t, args[0], args[1])
		if err != nil {
			return err
		}
		return found.print(streams)
	}
	o, err := t.node.Intersect(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	return intersection{
		A: nodeSetInfo(args[0], o.A), B: nodeSetInfo(args[1], o.B), Union: nodeSetInfo("", o.Union), Both: nodeSetInfo("", o.Both),
		OnlyA: nodeSetInfo("", o.OnlyA), OnlyB: nodeSetInfo("", o.OnlyB), Cells: o.Cells,
	}.print(streams)
}

// intersect compares the filters of two files.
func intersect(ctx context.Context, t target, a, b string) (intersection, error) {
	f, err := t.open(ctx, a)
	if err != nil {
		return intersection{}, err
	}
	fs, err := t.openWith(ctx, f, a, []string{b})
	if err != nil {
		return intersection{}, err
	}
	for i, name := range []string{a, b} {
		if fs[i].State().Kind == union.Name {
			return intersection{}, fmt.Errorf("%s: the filters of a union can't be compared as one: compare them before they are "+
				"merged, or make one filter of all keys", name)
		}
		if fs[i], err = compare.Bits(fs[i]); err != nil {
			return intersection{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	o, err := compare.Of(filter.All, fs[0], fs[1])
	if err != nil {
		return intersection{}, fmt.Errorf("%s and %s: %w", a, b, err)
	}
	return intersection{
		A: newSetInfo(a, o.A), B: newSetInfo(b, o.B), Union: newSetInfo("", o.Union), Both: newSetInfo("", o.Both),
		OnlyA: newSetInfo("", o.OnlyA), OnlyB: newSetInfo("", o.OnlyB), Cells: o.Cells,
	}, nil
}

func (result intersection) print(streams *cli.Streams) error {
	return streams.Answer(result, func(w io.Writer) error {
		t := table.New("", " Keys", " Least", " Most")
		result.A.row(t, result.A.File)
		result.B.row(t, result.B.File)
		result.Union.row(t, "union")
		result.Both.row(t, "both")
		result.OnlyA.row(t, "only "+result.A.File)
		result.OnlyB.row(t, "only "+result.B.File)
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
		at := "compared at their own sizes" + result.advice()
		if result.Cells != 0 {
			at = fmt.Sprintf("compared at %v cells", quantity.Count(result.Cells))
		}
		_, err := fmt.Fprintln(w, at)
		return err
	})
}

// advice says how the interval becomes narrower if it contains most numbers that are possible.
func (result intersection) advice() string {
	few, many := result.A, result.B
	if few.Estimate > many.Estimate {
		few, many = many, few
	}
	const much = 8
	if !(few.Estimate*much < many.Estimate) || result.Both.High-result.Both.Low < few.Estimate/2 {
		return ""
	}
	return fmt.Sprintf("; if %s is made with --like %s, the intervals are narrower", few.File, many.File)
}
