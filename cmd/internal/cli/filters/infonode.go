package filters

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

// nodeFilterInfo is the description of a filter on a node, with the field names of [info].
type nodeFilterInfo struct {
	Name       string               `json:"name"`
	Kind       string               `json:"kind"`
	Hash       string               `json:"hash"`
	Seed       string               `json:"seed,omitempty"`
	SecretSeed bool                 `json:"secretSeed"`
	Params     map[string]cli.Float `json:"params"`
	Parts      int                  `json:"parts"`
	Cells      uint64               `json:"cells"`
	K          cli.Float            `json:"k"`
	Keys       api.Estimate         `json:"keys"`
	Fill       cli.Float            `json:"fill"`
	FPRate     cli.Float            `json:"fpRate"`
	Planned    *api.Planned         `json:"planned,omitempty"`
	Bytes      uint64               `json:"bytes"`
	Can        []string             `json:"can"`
	Expires    *time.Time           `json:"expires"` // null for never
	Incomplete string               `json:"incomplete,omitempty"`
	Window     *api.Window          `json:"window,omitempty"`
}

func newNodeFilterInfo(in remote.Info) nodeFilterInfo {
	return nodeFilterInfo{
		Name: in.Name, Kind: in.Kind, Hash: in.Hash, Seed: in.Seed, SecretSeed: in.SecretSeed, Params: in.Params,
		Parts: in.Parts, Cells: in.Cells, K: in.K, Fill: in.Fill, FPRate: in.FPRate, Planned: in.Planned, Bytes: in.Bytes,
		Keys: in.Keys,
		Can:  in.Can, Expires: in.Expires, Incomplete: in.Incomplete, Window: in.Window,
	}
}

func (in nodeFilterInfo) Write(w io.Writer) error {
	t := table.New("", "")
	t.Row("filter", cli.NameWords(in.Name))
	t.Row("kind", in.Kind)
	t.Row("hash", in.hashWords())
	var params []string
	for _, name := range slices.Sorted(maps.Keys(in.Params)) {
		params = append(params, name+" "+numeral(float64(in.Params[name])))
	}
	label := "parameters"
	for _, line := range wrap(params, cli.PageWidth()-labelWidth) {
		t.Row(label, line)
		label = ""
	}
	if span, ok := NodeSpan(in.Window); ok {
		t.Row("keys expire", span.words())
	}
	t.Row("cells", quantity.Count(in.Cells).String())
	if in.Parts > 0 {
		t.Row("parts", quantity.Count(in.Parts).String())
	}
	t.Row("k", fmt.Sprintf("%.4g", in.K))
	t.Row("keys", keysWords(in.Keys, in.Kind))
	t.Row("fill", fmt.Sprintf("%.4f", in.Fill))
	t.Row("rate", cli.RateOf(float64(in.FPRate)))
	if in.Planned != nil {
		t.Row("planned", PlannedPainted(*in.Planned))
	}
	t.Row("memory", fmt.Sprintf("%v, %v bytes", quantity.Size(in.Bytes), quantity.Count(in.Bytes)))
	t.Row("can", strings.Join(in.Can, ", "))
	if in.Expires != nil {
		t.Row("expires", in.Expires.UTC().Format(time.RFC3339))
	}
	switch in.Incomplete {
	case api.FilterLost:
		t.Row("incomplete", "data of it was lost: every query returns true until it is created again")
	case api.FilterLoading:
		t.Row("incomplete", "it is being loaded: every query returns true until then")
	}
	_, err := t.WriteTo(w)
	return err
}

// numeral formats whole numbers without an exponent.
func numeral(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(x)
}

// hashWords describes the hash.
func (in nodeFilterInfo) hashWords() string {
	switch {
	case in.Seed != "":
		return in.Hash + ", seed " + in.Seed
	case in.SecretSeed:
		return in.Hash + ", secret seed"
	}
	return in.Hash
}
