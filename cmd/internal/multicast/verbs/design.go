package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/multicast/adaptive"
)

const multicastDesignHelp = `Design truncated Bloom filters, as in Heszberger et al. (2010). A design determines how
codewords of links are drawn, and to how many bits a filter of 1, 2, … links is cut so
that it keeps a false-positive rate.

The design has the least mean length. --frequencies sets how frequent each number of links
is: uniform, inverse (proportional to 1/i), or a file whose lines contain a number of
links and its frequency. --objective is "hashed", k draws per link (section V-B), or
"independent", one probability per bit (V-A).

-o writes the design for --design of umbel-multicast plan and sim. With FILE the command
describes the design in FILE.`

func multicastDesignCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "design [FILE | -n NUMBER --fpr RATE]",
		Short: "design truncated Bloom filters",
		Long:  multicastDesignHelp,
		Example: `  umbel-multicast design -n 200 --fpr 10%
  umbel-multicast design -n 200 --fpr 10% --objective independent --lengths
  umbel-multicast design -n 64 --fpr 1/100 --frequencies inverse -o small.design`,
		Args: cli.Arguments(0, 1),

		DisableFlagsInUseLine: true,
	}
	o := new(designOptions)
	o.want.add(cmd)
	flags := cmd.Flags()
	cli.AddOutputFlag(cmd, &o.output, "`FILE` to write: the design as JSON", cli.OutputFlag{Heads: []string{"{\n\t\"version\":"}, Inputs: []string{"frequencies"}})
	flags.BoolVar(&o.lengths, "lengths", false, "list the length of each number of links")
	return cli.Verb(cmd, o.run)
}

// designOptions are the flags of umbel-multicast design.
type designOptions struct {
	want    designFlags
	output  string
	lengths bool
}

func (o *designOptions) run(_ context.Context, streams *cli.Streams, args []string) error {
	var d *adaptive.Design
	var err error
	if len(args) == 1 {
		if o.want.any() {
			return cli.UsageError(errors.New("FILE is an existing design; leave out the flags of a new design"))
		}
		d, err = readDesign(args[0])
	} else {
		d, err = o.want.design(streams)
	}
	if err != nil {
		return err
	}
	if o.output != "" {
		text, err := json.MarshalIndent(d, "", "\t")
		if err != nil {
			return err
		}
		write := func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }
		if _, err := streams.WriteFile(o.output, -1, write); err != nil {
			return err
		}
	}
	info, err := describeDesign(d, o.lengths)
	if err != nil {
		return err
	}
	return summarizeWritten(streams, o.output, info, info.Write)
}

// designFlags are the flags of a new design.
type designFlags struct {
	links     int
	rate      quantity.Rate
	objective adaptive.Objective
	weight    string
	k         int
	given     cli.Given
}

func (f *designFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVarP(&f.links, "links", "n", 200, "`NUMBER` of links of the largest filter")
	f.rate = 0.1
	flags.VarP(&f.rate, "fpr", "p", "false-positive `RATE`")
	choice(cmd, &f.objective, "objective", "`KIND` of codewords", adaptive.Hashed, adaptive.Independent)
	flags.StringVar(&f.weight, "frequencies", "uniform", "frequencies of the numbers of links: uniform, inverse, or a `FILE`")
	f.given = cli.GivenFlags(cmd)
	flags.IntVar(&f.k, "draws", 0, "`NUMBER` of draws per link, for hashed (default the best)")
}

func (f *designFlags) any() bool {
	return slices.ContainsFunc([]string{"links", "fpr", "objective", "frequencies", "draws"}, func(name string) bool { return f.given[name] })
}

// design makes the design.
func (f *designFlags) design(streams *cli.Streams) (*adaptive.Design, error) {
	r := adaptive.Requirements{Rate: float64(f.rate), K: f.k, Objective: f.objective}
	var err error
	if r.Weights, err = f.weights(); err != nil {
		return nil, err
	}
	defer streams.Note("designing")()
	return adaptive.Optimum(r)
}

func (f *designFlags) weights() (adaptive.Weights, error) {
	if f.links < 1 || f.links > adaptive.MaxLinks {
		return nil, cli.UsageError(fmt.Errorf("%d links, want 1 to %d", f.links, adaptive.MaxLinks))
	}
	switch f.weight {
	case "uniform":
		return adaptive.Uniform(f.links), nil
	case "inverse":
		return adaptive.Inverse(f.links), nil
	}
	if f.given["links"] {
		return nil, cli.UsageError(errors.New("the file of --frequencies determines the number of links; leave out -n"))
	}
	file, err := os.Open(f.weight)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	w, err := adaptive.ReadWeights(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.weight, err)
	}
	return w, nil
}

// mostDesignBytes is the size of the largest design file that is read.
const mostDesignBytes = 4 << 20

// readDesign reads a design from a file in JSON or in the binary encoding.
func readDesign(path string) (*adaptive.Design, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, mostDesignBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostDesignBytes {
		return nil, fmt.Errorf("%s: a design file has at most %v", path, quantity.Size(mostDesignBytes))
	}
	var d adaptive.Design
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		err = json.Unmarshal(b, &d)
	} else {
		err = d.UnmarshalBinary(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &d, nil
}

// designInfo is the output of umbel-multicast design.
type designInfo struct {
	ID        string    `json:"id"`
	Method    string    `json:"method"`
	Objective string    `json:"objective"`
	K         int       `json:"k,omitempty"`
	Links     int       `json:"links"`
	Rate      float64   `json:"fpRate"`
	Bits      int       `json:"bits"` // of a codeword
	MeanBits  cli.Float `json:"meanBits"`
	AnyM      cli.Float `json:"anyMBits"`  // mean length of plain filters of any length
	Bound     cli.Float `json:"boundBits"` // mean of the lower bound
	Redrawn   float64   `json:"redrawn"`
	Lengths   []int     `json:"lengths,omitempty"`

	rates []float64
}

func describeDesign(d *adaptive.Design, lengths bool) (designInfo, error) {
	w := d.Weights
	if w == nil {
		w = adaptive.Uniform(d.Links())
	}
	in := designInfo{
		ID: d.ID(), Method: d.Method.String(), Objective: d.Objective.String(), K: d.K, Links: d.Links(),
		Rate: d.Rate, Bits: d.Bits(), MeanBits: cli.Float(d.Lengths().Mean(w)), Redrawn: d.Redrawn(),
	}
	plain, err := adaptive.AnyLength(d.Links(), d.Rate)
	if err != nil {
		return in, err
	}
	in.AnyM = cli.Float(plain.Mean(w))
	least, err := adaptive.Bound(d.Links(), d.Rate)
	if err != nil {
		return in, err
	}
	in.Bound = cli.Float(least.Mean(w))
	if lengths {
		in.Lengths = d.Ends
		for n := range in.Lengths {
			in.rates = append(in.rates, d.FPRate(n+1))
		}
	}
	return in, nil
}

func (in designInfo) Write(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s", in.Method, in.Objective)
	if in.K > 0 {
		fmt.Fprintf(w, ", k %d", in.K)
	}
	fmt.Fprintf(w, ": filters of 1 to %d links at a rate of %v\n", in.Links, quantity.Rate(in.Rate))
	fmt.Fprintf(w, "codewords of %d bits, of which %.1f are sent on average; %.2f%% of codewords are redrawn\n", in.Bits, float64(in.MeanBits), 100*in.Redrawn)
	fmt.Fprintf(w, "plain filters of any length have %.1f bits on average; the lower bound is %.1f\n", float64(in.AnyM), float64(in.Bound))
	fmt.Fprintf(w, "ID %s\n", in.ID)
	if len(in.Lengths) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := table.New(" Links", " Bits", " Rate")
	for i, m := range in.Lengths {
		t.Row(fmt.Sprint(i+1), fmt.Sprint(m), fmt.Sprintf("%.4g%%", 100*in.rates[i]))
	}
	_, err := t.WriteTo(w)
	return err
}
