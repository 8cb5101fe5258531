package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/folding"
	"github.com/umbel-filters/umbel/cmd/internal/parquetfile"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/filter"
)

const parquetHelp = `List the Bloom filters in a Parquet file, at most one per row group and column: size, fill ratio,
estimated number of distinct values, and estimated false-positive rate.

--to-fpr prints how far each can be folded at that rate, and how much memory that saves. --has
with --column queries the filters for a value, in the format of the column's type; --has may be
repeated. The exit code is 0 if each value may be in some row group, 1 if one is in none, 2 on
an error. --export writes a filter as a container, which the other verbs read.
They find the values of a column of text; those of numbers and times are hashed in binary.

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

func parquetCommand() *cobra.Command {
	var what parquet
	cmd := &cobra.Command{
		Use:     "parquet FILE",
		Short:   "list and query the filters in a Parquet file",
		Long:    parquetHelp,
		Example: parquetExample,
		Args:    arguments(1, 1),
	}
	flags := cmd.Flags()
	flags.Var(&what.rate, "to-fpr", "print what folding to `RATE` saves")
	flags.StringVar(&what.column, "column", "", "`COLUMN` to query, as listed")
	flags.StringArrayVar(&what.values, "has", nil, "query `VALUE`")
	flags.StringVar(&what.export, "export", "", "write the filter of `ROWGROUP:COLUMN`")
	flags.StringVarP(&what.output, "output", "o", "", "`FILE` to write")
	outputFlag{}.guard(cmd)
	exclusive(cmd, "to-fpr", "has", "export")
	needs(cmd, "has", "column", "the column to query: --column COLUMN; without flags umbel parquet lists the columns")
	needs(cmd, "column", "has", "the value to query: --has VALUE")
	needs(cmd, "export", "output", "the file to write: -o FILE")
	needs(cmd, "output", "export", "the filter to write: --export ROWGROUP:COLUMN")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] == "-" {
			return usageError(cmd, errors.New("a Parquet file can't be standard input, since its index is at its end; give a file"))
		}
		f, err := parquetfile.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		switch {
		case len(what.values) > 0:
			return what.query(cmd, f)
		case what.export != "":
			return what.write(cmd, f)
		}
		return what.list(cmd, f)
	}
	return cmd
}

// chunkInfo describes one filter.
type chunkInfo struct {
	RowGroup int         `json:"rowGroup"`
	Column   string      `json:"column"`
	Type     string      `json:"type"`
	Rows     uint64      `json:"rows"`
	Bytes    uint64      `json:"bytes"`
	Fill     float       `json:"fill"`
	Values   float       `json:"values"` // distinct, estimated
	FPRate   float       `json:"fpRate"`
	Folded   *foldedInfo `json:"folded,omitempty"`
}

// foldedInfo describes its fold.
type foldedInfo struct {
	Fold   uint64 `json:"fold"`
	Bytes  uint64 `json:"bytes"`
	FPRate float  `json:"fpRate"`
}

func (what parquet) list(cmd *cobra.Command, f *parquetfile.File) error {
	var list []chunkInfo
	for _, c := range f.Chunks() {
		in, err := what.measure(f, c)
		if err != nil {
			return err
		}
		list = append(list, in)
	}
	w := cmd.OutOrStdout()
	if wantsJSON(cmd) {
		return jsonLines(w, list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no column has a Bloom filter")
		return err
	}
	if what.rate != 0 {
		return writeSavings(w, list)
	}
	return writeChunks(w, list)
}

// measure reads one filter, and folds it to the rate of --to-fpr.
func (what parquet) measure(f *parquetfile.File, c parquetfile.Chunk) (chunkInfo, error) {
	in := chunkInfo{RowGroup: c.RowGroup, Column: c.Column, Type: c.Type, Rows: c.Rows, Bytes: c.Bytes}
	b, err := f.Filter(c)
	if err != nil {
		return in, err
	}
	s := b.Stats()
	in.Fill, in.Values, in.FPRate = float(s.Fill), float(s.Keys), float(s.FPRate)
	if what.rate == 0 || s.FPRate > float64(what.rate) {
		return in, nil
	}
	ladder, err := folding.NewLadder(filter.All, b)
	if err != nil {
		return in, err
	}
	folded, r, err := ladder.ToRate(float64(what.rate))
	if err != nil {
		return in, err
	}
	after := folded.Stats()
	in.Folded = &foldedInfo{r, after.Bytes, float(after.FPRate)}
	return in, nil
}

func writeChunks(w io.Writer, list []chunkInfo) error {
	t := table.New(" Row group", "Column", "Type", " Rows", " Size", " Fill", " Values", "False-positive rate")
	for _, in := range list {
		t.Row(strconv.Itoa(in.RowGroup), in.Column, in.Type, quantity.Count(in.Rows).String(), quantity.Size(in.Bytes).String(),
			fmt.Sprintf("%.4f", in.Fill), wholeKeys(float64(in.Values)), rateOf(float64(in.FPRate)))
	}
	_, err := t.WriteTo(w)
	return err
}

func writeSavings(w io.Writer, list []chunkInfo) error {
	t := table.New(" Row group", "Column", " Size", "False-positive rate", " Fold", " Folded", "Rate of the fold")
	var before, after uint64
	for _, in := range list {
		then := in.Folded
		if then == nil { // already above the rate
			then = &foldedInfo{1, in.Bytes, in.FPRate}
		}
		before, after = before+in.Bytes, after+then.Bytes
		t.Row(strconv.Itoa(in.RowGroup), in.Column, quantity.Size(in.Bytes).String(), rateOf(float64(in.FPRate)),
			quantity.Count(then.Fold).String(), quantity.Size(then.Bytes).String(), rateOf(float64(then.FPRate)))
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%v now, %v folded, %.3g%% less\n", quantity.Size(before), quantity.Size(after), 100*(1-float64(after)/float64(before)))
	return err
}

// valueInfo is the answer for one value.
type valueInfo struct {
	Value     string `json:"value"`
	Has       bool   `json:"has"`
	RowGroups []int  `json:"rowGroups"` // that may contain it
	Unknown   []int  `json:"unknown"`   // those of them without a filter
}

// query queries the filters of a column for the values.
func (what parquet) query(cmd *cobra.Command, f *parquetfile.File) error {
	answers, err := f.Query(what.column, what.values...)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	absent := false
	for i, v := range what.values {
		in := valueInfo{Value: v, RowGroups: []int{}, Unknown: []int{}}
		for _, a := range answers {
			if a.May[i] {
				in.RowGroups = append(in.RowGroups, a.RowGroup)
			}
			if !a.Known {
				in.Unknown = append(in.Unknown, a.RowGroup)
			}
		}
		in.Has = len(in.RowGroups) > 0
		absent = absent || !in.Has
		switch {
		case isQuiet(cmd): // the exit code answers
		case wantsJSON(cmd):
			err = jsonLine(w, in)
		default:
			_, err = fmt.Fprintln(w, in)
		}
		if err != nil {
			return err
		}
	}
	if absent {
		return errAbsent
	}
	return nil
}

func (in valueInfo) String() string {
	if !in.Has {
		return in.Value + ": in no row group"
	}
	s := fmt.Sprintf("%s: may be in row group %s", in.Value, numbers(in.RowGroups))
	if len(in.Unknown) > 0 {
		s += fmt.Sprintf(" (%s without a filter)", numbers(in.Unknown))
	}
	return s
}

func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

// write exports one filter.
func (what parquet) write(cmd *cobra.Command, f *parquetfile.File) error {
	group, column, ok := strings.Cut(what.export, ":")
	n, err := strconv.Atoi(group)
	if !ok || err != nil {
		return usageError(cmd, fmt.Errorf("%q: want ROWGROUP:COLUMN, such as 0:email", what.export))
	}
	var there []string
	for _, c := range f.Chunks() {
		if c.RowGroup != n || c.Column != column {
			there = append(there, fmt.Sprintf("%d:%s", c.RowGroup, c.Column))
			continue
		}
		b, err := f.Filter(c)
		if err != nil {
			return err
		}
		if err := container.Write(what.output, b.State()); err != nil {
			return err
		}
		if !c.Text() {
			warn(cmd, "the values of column %s are %s, which are hashed in binary; umbel has %s takes text, and does not find them; query with umbel parquet --column %s --has VALUE", c.Column, c.Type, what.output, c.Column)
		}
		return summarize(what.output, b).print(cmd, "exported from "+what.export)
	}
	if len(there) == 0 {
		return errors.New("no column has a Bloom filter")
	}
	const few = 8
	if len(there) > few {
		there = append(there[:few], "…")
	}
	return fmt.Errorf("no filter %s; the file has %s", what.export, strings.Join(there, ", "))
}
