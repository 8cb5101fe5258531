package filters

import (
	"fmt"
	"io"
	"os"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/build"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/weighted"
)

// weightsInfo is what umbel make has gained by a log of queries.
type weightsInfo struct {
	TableKeys  int    `json:"tableKeys"`
	TableBytes uint64 `json:"tableBytes"` // part of the filter's bytes
	// RelativeFPRate is the rate for the queries of the log, divided by that of a bloom or counting filter
	// of the same bytes.
	RelativeFPRate cli.Float `json:"relativeFPRate"`

	plain     string // the kind of the filter that it is compared with
	worthless bool
}

// newWeightsInfo returns nil for a filter made without a log.
func newWeightsInfo(g *build.Gain, kind string) *weightsInfo {
	if g == nil {
		return nil
	}
	plain := bloom.Name
	if kind == weighted.CountingKind.Name {
		plain = counting.Name
	}
	return &weightsInfo{TableKeys: g.TableKeys, TableBytes: g.TableBytes, RelativeFPRate: cli.Float(g.Relative), plain: plain, worthless: g.Worthless()}
}

// Write writes the lines of the summary.
func (w *weightsInfo) Write(out io.Writer) error {
	_, err := fmt.Fprintf(out, "table of %v frequent absent keys, %v\nfalse positives of the log's queries: %s of those of a %s filter of this size\n",
		quantity.Count(w.TableKeys), quantity.Size(w.TableBytes), cli.Percent(w.RelativeFPRate), w.plain)
	return err
}

// Warn prints a warning if a plain filter is as good.
func (w *weightsInfo) Warn(streams *cli.Streams, file string) {
	if w != nil && w.worthless {
		streams.Warn("%s gains nothing by its log of queries; a %s filter of the same size is as good: omit --weights-log", file, w.plain)
	}
}

// makeByLog makes the weighted filter of an order with a log of queries.
func makeByLog(o build.Order, files []*os.File, log string) (build.Result, error) {
	f, err := os.Open(log)
	if err != nil {
		return build.Result{}, err
	}
	defer f.Close()
	return o.Learn(files, f)
}
