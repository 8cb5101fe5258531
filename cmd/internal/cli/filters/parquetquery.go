package filters

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/parquetfile"
	"github.com/umbel-filters/umbel/cmd/internal/report"
)

// valueInfo is the answer for one value.
type valueInfo struct {
	Value     string `json:"value"`
	Has       bool   `json:"has"`
	RowGroups []int  `json:"rowGroups"` // that may contain it
	Unknown   []int  `json:"unknown"`   // those of them without an answer
}

// query queries the filters of a column for the values.
func (what parquet) query(streams *cli.Streams, f *parquetfile.File) error {
	answers, err := f.Query(what.column, what.values...)
	if err != nil {
		return err
	}
	warned := map[string]bool{}
	for _, a := range answers {
		if a.Err == nil {
			continue
		}
		if text := report.Text(a.Err); !warned[text] {
			streams.Warn("%s", text)
			warned[text] = true
		}
	}
	w := streams.Out
	absent := false
	for i, v := range what.values {
		in := valueInfo{Value: v, RowGroups: []int{}, Unknown: []int{}}
		for _, a := range answers {
			if a.May[i] {
				in.RowGroups = append(in.RowGroups, a.RowGroup)
			}
			if !a.Known[i] {
				in.Unknown = append(in.Unknown, a.RowGroup)
			}
		}
		in.Has = len(in.RowGroups) > 0
		absent = absent || !in.Has
		switch {
		case streams.Quiet: // the exit code answers
		case streams.JSON:
			err = cli.JSONLine(w, in)
		default:
			_, err = fmt.Fprintln(w, in)
		}
		if err != nil {
			return err
		}
	}
	if absent {
		return cli.ErrAbsent
	}
	return nil
}

func (in valueInfo) String() string {
	if !in.Has {
		return in.Value + ": in no row group"
	}
	s := fmt.Sprintf("%s: may be in row group %s", in.Value, numbers(in.RowGroups))
	if len(in.Unknown) > 0 {
		s += fmt.Sprintf(" (%s unknown)", numbers(in.Unknown))
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

// Write exports one filter.
func (what parquet) Write(streams *cli.Streams, f *parquetfile.File) error {
	group, column, ok := strings.Cut(what.export, ":")
	n, err := strconv.Atoi(group)
	if !ok || err != nil {
		return cli.UsageError(fmt.Errorf("%q: want ROWGROUP:COLUMN, such as 0:email", what.export))
	}
	c, err := f.Find(n, column)
	if errors.Is(err, parquetfile.ErrNoFilter) {
		return what.noFilter(f)
	}
	if err != nil {
		return err
	}
	b, err := f.Filter(c)
	if err != nil {
		return fmt.Errorf("filter %s: %w", what.export, err)
	}
	if err := container.Write(what.output, b.State()); err != nil {
		return err
	}
	if !c.Text {
		streams.Warn("the values of column %s are %s, which are hashed in binary; umbel has %s takes text, and does not find them; "+
			"query with umbel parquet --column %s --has VALUE", c.Name, c.Type, what.output, c.Name)
	}
	return Summarize(what.output, b).Print(streams, "exported from "+what.export)
}

// noFilter is the error for a filter that the file doesn't have.
func (what parquet) noFilter(f *parquetfile.File) error {
	var there []string
	for _, c := range f.Chunks() {
		const few = 8
		if len(there) == few {
			there = append(there, "…")
			break
		}
		there = append(there, fmt.Sprintf("%d:%s", c.RowGroup, c.Name))
	}
	if len(there) == 0 {
		return errors.New("no column has a Bloom filter")
	}
	return fmt.Errorf("no filter %s; the file has %s", what.export, strings.Join(there, ", "))
}
