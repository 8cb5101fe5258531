package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/inpacket/adaptive"
)

const multicastDesignHelp = `Design filters that are cut to the length their content needs, as Heszberger et al.
(2010) have them: how codewords of links are drawn, and how many bits are sent of a
filter of 1, 2, … links at a rate of false positives.

--weights says how often a filter holds how many links: uniform, inverse (c_i in
proportion to 1/i), or a file with lines of a number of links and how often. --method is
"optimum", which solves the paper's problems exactly, "greedy", its random search, or
"heuristic", its formula. --objective is "hashed", k draws a link (section V-B), or
"independent", odds of each bit (V-A).

-o writes the design for --design of umbel multicast plan and sim. Given a FILE, the
design in it is described.`

func multicastDesignCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "design [FILE | -n NUMBER --fpr RATE]",
		Short: "design filters that are cut to length",
		Long:  multicastDesignHelp,
		Example: `  umbel multicast design -n 200 --fpr 10%
  umbel multicast design -n 200 --fpr 10% --method heuristic --lengths
  umbel multicast design -n 64 --fpr 1/100 --weights inverse -o small.design`,
		Args: arguments(0, 1),

		DisableFlagsInUseLine: true,
	}
	var want designFlags
	want.add(cmd)
	flags := cmd.Flags()
	out := flags.StringP("output", "o", "", "write the design to `FILE`, as JSON")
	lengths := flags.Bool("lengths", false, "list the length of each number of links")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var d *adaptive.Design
		var err error
		if len(args) == 1 {
			if want.given(cmd) {
				return usageError(cmd, errors.New("a design is either read from FILE or made anew"))
			}
			d, err = readDesign(args[0])
		} else {
			d, err = want.design(cmd)
		}
		if err != nil {
			return err
		}
		if *out != "" {
			text, err := json.MarshalIndent(d, "", "\t")
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }
			if _, err := writeFile(cmd, *out, -1, write); err != nil {
				return err
			}
		}
		info, err := describeDesign(d, *lengths)
		if err != nil {
			return err
		}
		return summarizeWritten(cmd, *out, info, info.write)
	}
	return cmd
}

// designFlags say which design is wanted.
type designFlags struct {
	links     int
	rate      quantity.Rate
	method    adaptive.Method
	objective adaptive.Objective
	weight    string
	k         int
	seed      uint64
}

func (f *designFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVarP(&f.links, "links", "n", 200, "`NUMBER` of links of the largest filter")
	f.rate = 0.1
	flags.VarP(&f.rate, "fpr", "p", "`RATE` at which other links match")
	choice(cmd, &f.method, "method", "`WORD` for how it is found", adaptive.ByOptimum, adaptive.BySearch, adaptive.ByFormula)
	choice(cmd, &f.objective, "objective", "`WORD` for how codewords are drawn", adaptive.Hashed, adaptive.Independent)
	flags.StringVar(&f.weight, "weights", "uniform", "how often there are how many links: uniform, inverse or in `FILE`")
	flags.IntVar(&f.k, "k", 0, "`NUMBER` of draws, of hashed (default the best)")
	flags.Uint64Var(&f.seed, "seed", 1, "`NUMBER` that the greedy search follows from")
}

func (f *designFlags) given(cmd *cobra.Command) bool {
	for _, name := range []string{"links", "fpr", "method", "objective", "weights", "k", "seed"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// design makes the design.
func (f *designFlags) design(cmd *cobra.Command) (*adaptive.Design, error) {
	if err := f.check(cmd); err != nil {
		return nil, usageError(cmd, err)
	}
	g := adaptive.Goal{Rate: float64(f.rate), K: f.k, Objective: f.objective}
	var err error
	if g.Weights, err = f.weights(cmd); err != nil {
		return nil, err
	}
	defer note(cmd, "designing")()
	switch f.method {
	case adaptive.BySearch:
		return adaptive.Greedy(g, adaptive.Search{Seed: f.seed})
	case adaptive.ByFormula:
		return adaptive.Heuristic(len(g.Weights), g.Rate)
	}
	return adaptive.Optimum(g)
}

// check refuses flags that the method would leave aside.
func (f *designFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch formula := f.method == adaptive.ByFormula; {
	case changed("seed") && f.method != adaptive.BySearch:
		return fmt.Errorf("--seed is for --method greedy, not for %v", f.method)
	case formula && changed("objective") && f.objective != adaptive.Independent:
		return errors.New("the formula of --method heuristic is that of --objective independent")
	case formula && changed("k"):
		return errors.New("--k is for --objective hashed, which --method heuristic has not")
	}
	return nil
}

func (f *designFlags) weights(cmd *cobra.Command) (adaptive.Weights, error) {
	if f.links < 1 || f.links > adaptive.MaxLinks {
		return nil, usageError(cmd, fmt.Errorf("%d links, want 1 to %d", f.links, adaptive.MaxLinks))
	}
	switch f.weight {
	case "uniform":
		return adaptive.Uniform(f.links), nil
	case "inverse":
		return adaptive.Inverse(f.links), nil
	}
	if cmd.Flags().Changed("links") {
		return nil, usageError(cmd, errors.New("the file of --weights says how many links there are; leave -n out"))
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

// mostDesignBytes is the length of the longest file that is read as a design.
const mostDesignBytes = 4 << 20

// readDesign reads a design from a file of JSON, or of its bytes.
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
		return nil, fmt.Errorf("%s: longer than %v, which no design is", path, quantity.Size(mostDesignBytes))
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

// designInfo is what umbel multicast design says.
type designInfo struct {
	ID        string  `json:"id"`
	Method    string  `json:"method"`
	Objective string  `json:"objective"`
	K         int     `json:"k,omitempty"`
	Links     int     `json:"links"`
	Rate      float64 `json:"fp_rate"`
	Bits      int     `json:"bits"` // of a codeword
	MeanBits  float   `json:"mean_bits"`
	AnyM      float   `json:"any_m_bits"` // mean of a plain filter of any length
	Bound     float   `json:"bound_bits"` // mean of the least there could be
	Redrawn   float64 `json:"redrawn"`
	Lengths   []int   `json:"lengths,omitempty"`

	rates []float64
}

func describeDesign(d *adaptive.Design, lengths bool) (designInfo, error) {
	w := d.Weights
	if w == nil {
		w = adaptive.Uniform(d.Links())
	}
	in := designInfo{
		ID: d.ID(), Method: d.Method.String(), Objective: d.Objective.String(), K: d.K, Links: d.Links(),
		Rate: d.Rate, Bits: d.Bits(), MeanBits: float(d.Lengths().Mean(w)), Redrawn: d.Redrawn(),
	}
	plain, err := adaptive.AnyLength(d.Links(), d.Rate)
	if err != nil {
		return in, err
	}
	in.AnyM = float(plain.Mean(w))
	least, err := adaptive.Bound(d.Links(), d.Rate)
	if err != nil {
		return in, err
	}
	in.Bound = float(least.Mean(w))
	if lengths {
		in.Lengths = d.Ends
		for n := range in.Lengths {
			in.rates = append(in.rates, d.FPRate(n+1))
		}
	}
	return in, nil
}

func (in designInfo) write(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s", in.Method, in.Objective)
	if in.K > 0 {
		fmt.Fprintf(w, ", k %d", in.K)
	}
	fmt.Fprintf(w, ": filters of 1 to %d links at a rate of %v\n", in.Links, quantity.Rate(in.Rate))
	fmt.Fprintf(w, "codewords of %d bits, of which %.1f are sent in the mean; %.2f%% of codewords are drawn again\n", in.Bits, float64(in.MeanBits), 100*in.Redrawn)
	fmt.Fprintf(w, "a plain filter of any length takes %.1f, and no filter less than %.1f\n", float64(in.AnyM), float64(in.Bound))
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
