package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

const squidInfoHelp = `Describe the cache digests in the files: the number of objects, as the Squid counts them and as its
bits indicate, the size, the fill ratio and the false-positive rate.

Releases of Squid up to 7 damage the digests that they receive (Squid's bug 5510). The tolerant form
of a digest avoids false negatives there; its rate is higher. What is wrong with a digest is listed
as a problem.`

const squidInfoExample = `  umbel-cache squid info squid.digest`

// digestInfo is the description of a digest.
type digestInfo struct {
	File         string       `json:"file"`
	Capacity     uint32       `json:"capacity"`
	Count        uint32       `json:"count"` // additions, as the writer counted them
	Deletions    uint32       `json:"deletions"`
	BitsPerEntry uint8        `json:"bitsPerEntry"`
	Bytes        int          `json:"bytes"` // of the digest
	Cells        uint64       `json:"cells"`
	Keys         api.Estimate `json:"keys"` // estimated from the cells
	Fill         cli.Float    `json:"fill"`
	FPRate       cli.Float    `json:"fpRate"`
	// Tolerant is the tolerant form.
	Tolerant tolerantInfo `json:"tolerant"`
	Problems []string     `json:"problems"`
}

type tolerantInfo struct {
	Differs  bool      `json:"differs"`
	Fill     cli.Float `json:"fill"`
	FPRate   cli.Float `json:"fpRate"`
	Accepted bool      `json:"accepted"` // by every Squid
}

func squidInfoCommand() *cobra.Command {
	return cli.Verb(&cobra.Command{
		Use:     "info FILE...",
		Short:   "describe cache digests",
		Long:    squidInfoHelp,
		Example: squidInfoExample,
		Args:    cli.Arguments(1, -1),
	}, squidInfo)
}

func squidInfo(_ context.Context, streams *cli.Streams, args []string) error {
	for i, path := range args {
		if i > 0 && !streams.JSON {
			fmt.Fprintln(streams.Out)
		}
		d, err := readDigest(streams, path)
		if err != nil && !errors.Is(err, squid.ErrOverfull) {
			return err
		}
		in, err := describeDigest(path, d)
		if err != nil {
			return err
		}
		if err := streams.Answer(in, in.Write); err != nil {
			return err
		}
	}
	return nil
}

func describeDigest(path string, d squid.Digest) (digestInfo, error) {
	f, err := d.Filter()
	if err != nil {
		return digestInfo{}, fmt.Errorf("%s: %w", path, err)
	}
	s, t := f.Stats(), d.Tolerant()
	fill := t.Fill()
	in := digestInfo{
		File: path, Capacity: d.Capacity, Count: d.Count, Deletions: d.Deletions, BitsPerEntry: d.BitsPerEntry,
		Bytes: squid.BlockBytes + len(d.Mask), Cells: s.Cells, Keys: api.NewEstimate(s), Fill: cli.Float(s.Fill), FPRate: cli.Float(s.FPRate),
		Tolerant: tolerantInfo{Differs: fill != s.Fill, Fill: cli.Float(fill), FPRate: cli.Float(math.Pow(fill, squid.K)), Accepted: t.Check() == nil},
		Problems: []string{},
	}
	if d.Check() != nil {
		in.Problems = append(in.Problems, fmt.Sprintf("%.1f%% of the cells are set, and Squid refuses digests above %v%%; make "+
			"it with more bits per entry", 100*s.Fill, 100*squid.MaxFill))
	}
	if d.Count > d.Capacity {
		in.Problems = append(in.Problems, fmt.Sprintf("it has %s and was made for %v", quantity.Count(d.Count).Of("object"), quantity.Count(d.Capacity)))
	}
	return in, nil
}

func (in digestInfo) Write(w io.Writer) error {
	t := table.New("", "")
	t.Row("digest", in.File)
	t.Row("objects", fmt.Sprintf("%v counted, about %s by the cells", quantity.Count(in.Count), filters.WholeKeys(float64(in.Keys.Estimate))))
	t.Row("made for", fmt.Sprintf("%s at %d bits", quantity.Count(in.Capacity).Of("object"), in.BitsPerEntry))
	t.Row("size", fmt.Sprintf("%v bytes, %v cells", quantity.Count(in.Bytes), quantity.Count(in.Cells)))
	t.Row("fill ratio", fmt.Sprintf("%.4f", in.Fill))
	t.Row("false-positive rate", cli.RateOf(float64(in.FPRate)))
	t.Row("tolerant form", in.Tolerant.words())
	for _, p := range in.Problems {
		t.Row("problem", p)
	}
	_, err := t.WriteTo(w)
	return err
}

func (t tolerantInfo) words() string {
	switch {
	case !t.Differs:
		return "the same"
	case !t.Accepted:
		return fmt.Sprintf("fill ratio %.4f, which Squid refuses; export --tolerant makes a longer one", t.Fill)
	}
	return "false-positive rate " + cli.RateOf(float64(t.FPRate))
}
