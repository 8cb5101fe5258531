package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/parquetfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/fold"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
)

const parquetHelp = `List the Bloom filters in a Parquet file, at most one per row group and column: size, fill ratio,
estimated number of distinct values, and estimated false-positive rate.

A filter that can't be read has a row with the reason. The exit code is 2 if one is damaged.

--to-fpr prints how far each can be folded at that rate, and how much memory that saves. --has
with --column queries the filters for a value, in the format of the column's type; --has may be
repeated. Any type but text takes the stored bytes as well, as hex:00ff. The exit code is 0 if
each value may be in some row group, 1 if one is in none, 2 on an error. A row group without a
filter that can be read may have each value. Where several columns have one path, @3 names the
fourth column of the file. --export writes a filter as a container, which the other verbs read.
They find the values of a column of text; those of numbers and times are hashed in binary.
docs/parquet.md has the formats of all types.

With --json one object is printed per filter or value.`

const parquetExample = `  umbel parquet users.parquet
  umbel parquet users.parquet --to-fpr 5%
  umbel parquet users.parquet --column email --has alice@example.org
  umbel parquet users.parquet --export 0:email -o email.umb`

// parquet is the flags of umbel parquet.
type parquet struct {
	rate   quantity.Rate
	column string
	values []string
	export string
	output string
}

// ParquetCommand is umbel parquet.
func ParquetCommand() *cobra.Command {
	what := new(parquet)
	cmd := &cobra.Command{
		Use:     "parquet FILE",
		Short:   "list and query the filters in a Parquet file",
		Long:    parquetHelp,
		Example: parquetExample,
		Args:    cli.Arguments(1, 1),
	}
	flags := cmd.Flags()
	flags.Var(&what.rate, "to-fpr", "print what folding saves while the rate is at most `RATE`")
	flags.StringVar(&what.column, "column", "", "`COLUMN` to query, as listed, or @ and its index")
	flags.StringArrayVar(&what.values, "has", nil, "query `VALUE`")
	flags.StringVar(&what.export, "export", "", "write the filter of `ROWGROUP:COLUMN`")
	flags.StringVarP(&what.output, "output", "o", "", "`FILE` to write")
	cli.OutputFlag{}.Guard(cmd)
	cli.Exclusive(cmd, "to-fpr", "has", "export")
	cli.Needs(cmd, "has", "column", "the column to query: --column COLUMN; without flags umbel parquet lists the columns")
	cli.Needs(cmd, "column", "has", "the value to query: --has VALUE")
	cli.Needs(cmd, "export", "output", "the file to write: -o FILE")
	cli.Needs(cmd, "output", "export", "the filter to write: --export ROWGROUP:COLUMN")
	return cli.Verb(cmd, what.run)
}

func (what *parquet) run(_ context.Context, streams *cli.Streams, args []string) error {
	if args[0] == "-" {
		return cli.UsageError(errors.New("a Parquet file can't be standard input, since its index is at its end; give a file"))
	}
	f, err := parquetfile.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case len(what.values) > 0:
		return what.query(streams, f)
	case what.export != "":
		return what.Write(streams, f)
	}
	return what.list(streams, f)
}

// chunkInfo describes one filter.
type chunkInfo struct {
	RowGroup int         `json:"rowGroup"`
	Column   string      `json:"column"`
	Index    int         `json:"index"` // of the column
	Type     string      `json:"type"`
	Rows     uint64      `json:"rows"`
	Error    string      `json:"error,omitempty"` // why the filter can't be read
	Bytes    uint64      `json:"bytes"`
	Fill     cli.Float   `json:"fill"`
	Values   cli.Float   `json:"values"` // distinct, estimated
	FPRate   cli.Float   `json:"fpRate"`
	Folded   *foldedInfo `json:"folded,omitempty"`

	name string // of the column, for --column; with its path if that is another
}

// foldedInfo describes its fold.
type foldedInfo struct {
	Fold   uint64    `json:"fold"`
	Bytes  uint64    `json:"bytes"`
	FPRate cli.Float `json:"fpRate"`
}

// list prints the filters. It returns an error if one is damaged, after it has printed all.
func (what parquet) list(streams *cli.Streams, f *parquetfile.File) error {
	var list []chunkInfo
	damaged := 0
	for _, c := range f.Chunks() {
		in := chunkInfo{RowGroup: c.RowGroup, Column: c.Column, Index: c.Index, Type: c.Type, Rows: c.Rows, name: c.Name}
		if c.Name != c.Column {
			in.name += " (" + c.Column + ")"
		}
		b, err := f.Filter(c)
		if err == nil {
			err = what.measure(&in, b)
		}
		switch {
		case errors.Is(err, umbel.ErrCorrupt):
			damaged++
			in.Error = report.Text(err)
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, parquetfile.ErrNoFilter), errors.Is(err, umbel.ErrLimit):
			in.Error = report.Text(err)
		case err != nil:
			return err
		}
		if err != nil {
			unknown := cli.Float(math.NaN())
			in.Bytes, in.Fill, in.Values, in.FPRate = 0, unknown, unknown, unknown
		}
		list = append(list, in)
	}
	if err := what.writeList(streams, list); err != nil {
		return err
	}
	if damaged > 0 {
		return fmt.Errorf("damaged filters: %d of %d", damaged, len(list))
	}
	return nil
}

func (what parquet) writeList(streams *cli.Streams, list []chunkInfo) error {
	w := streams.Out
	switch {
	case streams.JSON:
		return cli.JSONLines(w, list)
	case len(list) == 0:
		_, err := fmt.Fprintln(w, "no column has a Bloom filter")
		return err
	case what.rate != 0:
		return writeSavings(w, list)
	}
	return writeChunks(w, list)
}

// measure measures a filter, and folds it to the rate of --to-fpr.
func (what parquet) measure(in *chunkInfo, b *splitblock.Filter) error {
	s := b.Stats()
	in.Bytes, in.Fill, in.Values, in.FPRate = s.Bytes, cli.Float(s.Fill), cli.Float(s.Keys), cli.Float(s.FPRate)
	if what.rate == 0 || s.FPRate > float64(what.rate) {
		return nil
	}
	folded, r, err := fold.To(filter.All, b, umbel.Goal{FPRate: float64(what.rate)})
	if err != nil {
		return err
	}
	after := folded.Stats()
	in.Folded = &foldedInfo{r, after.Bytes, cli.Float(after.FPRate)}
	return nil
}

func writeChunks(w io.Writer, list []chunkInfo) error {
	t := table.New(" Row group", "Column", "Type", " Rows", " Size", " Fill", " Values", "False-positive rate")
	for _, in := range list {
		if in.Error != "" {
			t.Row(strconv.Itoa(in.RowGroup), in.name, in.Type, quantity.Count(in.Rows).String(), "-", "-", "-", in.Error)
			continue
		}
		t.Row(strconv.Itoa(in.RowGroup), in.name, in.Type, quantity.Count(in.Rows).String(), quantity.Size(in.Bytes).String(),
			fmt.Sprintf("%.4f", in.Fill), WholeKeys(float64(in.Values)), cli.RateOf(float64(in.FPRate)))
	}
	_, err := t.WriteTo(w)
	return err
}

func writeSavings(w io.Writer, list []chunkInfo) error {
	t := table.New(" Row group", "Column", " Size", "False-positive rate", " Fold", " Folded", "Rate of the fold")
	var before, after uint64
	for _, in := range list {
		if in.Error != "" {
			t.Row(strconv.Itoa(in.RowGroup), in.name, "-", "-", "-", "-", in.Error)
			continue
		}
		then := in.Folded
		if then == nil { // already above the rate
			then = &foldedInfo{1, in.Bytes, in.FPRate}
		}
		before, after = before+in.Bytes, after+then.Bytes
		t.Row(strconv.Itoa(in.RowGroup), in.name, quantity.Size(in.Bytes).String(), cli.RateOf(float64(in.FPRate)),
			quantity.Count(then.Fold).String(), quantity.Size(then.Bytes).String(), cli.RateOf(float64(then.FPRate)))
	}
	if _, err := t.WriteTo(w); err != nil || before == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%v now, %v folded, %.3g%% less\n", quantity.Size(before), quantity.Size(after), 100*(1-float64(after)/float64(before)))
	return err
}
