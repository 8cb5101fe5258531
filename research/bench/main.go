package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/multicast/sim"
)

// options contains the settings of measurements.
type options struct {
	rounds int
	only   *regexp.Regexp // matched with section/case/contestant

	timedNear int // keys per timing of a filter in cache, in several passes
	timedFar  int // keys per timing of a larger filter
	trials    int // absent keys with which a rate is measured
	trees     int // trees for each number of receivers and each network
}

// selection contains the requested sizes, rates and inputs.
type selection struct {
	sizes  []uint64
	rates  []float64
	bits   []float64
	inputs []input

	goroutines int // on one filter
}

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	sizes := flags.String("n", "1e5,1e8", "numbers of keys")
	rates := flags.String("fpr", "0.01,0.001", "false-positive rates for which filters are sized")
	bits := flags.String("bits", "11", "bits per key, the same for all filters, with precomputed hashes")
	inputs := flags.String("keys", "hash,8B,32B", "inputs of the filters: hash, 8B, 32B")
	goroutines := flags.Int("goroutines", 2, "goroutines that use one filter, in shared/")
	trees := flags.Int("trees", 300, "trees for each number of receivers and each network, in multicast/search")
	rounds := flags.Int("rounds", 5, "number of counted rounds")
	only := flags.String("only", "", "measure only paths that match this regular expression, such as "+
		"filters/n=1e5/fpr=0.01/8B/blobloom, shared/.*, save/, fold/, hash/, counting/, weighted/, growing/, folding/, planner/, messages/, static/, multicast/")
	asJSON := flags.Bool("json", false, "print JSON")
	file := flags.String("md", "", "also write Markdown to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see -help", flags.Arg(0))
	}
	o := options{rounds: *rounds, timedNear: 1e6, timedFar: 2e6, trials: 2e6, trees: *trees}
	if o.rounds < 1 || o.rounds > 1000 {
		return fmt.Errorf("%d rounds, want 1 to 1000", o.rounds)
	}
	if o.trees < 1 || o.trees > sim.MaxTrees {
		return fmt.Errorf("%d trees, want 1 to %d", o.trees, sim.MaxTrees)
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if *goroutines < 1 || *goroutines > 1000 {
		return fmt.Errorf("%d goroutines, want 1 to 1000", *goroutines)
	}
	want := selection{goroutines: *goroutines}
	if err := want.parse(*sizes, *rates, *bits, *inputs); err != nil {
		return err
	}
	report := newReport(args, o.rounds)
	if err := report.measure(want, o, newProgress(os.Stderr)); err != nil {
		return err
	}
	report.judge(want.sizes, want.bits)
	return report.print(*asJSON, *file)
}

func (w *selection) parse(sizes, rates, bits, inputs string) error {
	for s := range strings.SplitSeq(sizes, ",") {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || x < 1000 || x > 1e10 {
			return fmt.Errorf("%q keys, want 1e3 to 1e10", s)
		}
		w.sizes = append(w.sizes, uint64(x))
	}
	var err error
	if w.rates, err = between(rates, 1e-9, 0.5); err != nil {
		return fmt.Errorf("rate %w", err)
	}
	if w.bits, err = between(bits, 2, 64); err != nil {
		return fmt.Errorf("bits per key %w", err)
	}
	for s := range strings.SplitSeq(inputs, ",") {
		in, err := parseInput(s)
		if err != nil {
			return err
		}
		w.inputs = append(w.inputs, in)
	}
	return nil
}

// between parses a list of numbers from low to high. The list may be empty.
func between(list string, low, high float64) (xs []float64, err error) {
	if list == "" {
		return nil, nil
	}
	for s := range strings.SplitSeq(list, ",") {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x >= low && x <= high) {
			return nil, fmt.Errorf("%q, want %g to %g", s, low, high)
		}
		xs = append(xs, x)
	}
	return xs, nil
}

// cases returns the comparisons of filters.
func (w *selection) cases() (cs []filterCase) {
	for _, n := range w.sizes {
		for _, b := range w.bits {
			cs = append(cs, filterCase{size{keys: n, bitsPerKey: b}, hashed, filters})
		}
		for _, p := range w.rates {
			for _, in := range w.inputs {
				cs = append(cs, filterCase{size{keys: n, rate: p}, in, filters})
			}
		}
		if len(w.rates) > 0 {
			z := size{keys: n, rate: w.rates[0]}
			shared := together
			shared.goroutines = w.goroutines
			cs = append(cs, filterCase{z, hashed, shared})
			for _, in := range []input{hashed, bytes8} {
				cs = append(cs, filterCase{z, in, counters}, filterCase{z, in, growers})
			}
			cs = append(cs, filterCase{z, hashed, weights})
			if n <= nearKeys {
				cs = append(cs, filterCase{z, hashed, statics})
			}
		}
	}
	return cs
}

// measure runs all cases. The garbage collector runs only where it is called.
func (r *Report) measure(w selection, o options, p *progress) error {
	defer p.clear()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	jobs := []func() (*Table, error){func() (*Table, error) { return runHashes(o, p) }}
	for _, c := range w.cases() {
		jobs = append(jobs, func() (*Table, error) { return c.run(o, p) })
	}
	jobs = append(jobs,
		func() (*Table, error) { return runSave(saveKeys, o, p) },
		func() (*Table, error) { return runFold(foldBytes, o, p) },
		func() (*Table, error) { return runRefold(foldBytes, o, p) },
		func() (*Table, error) { return runPlanner(o, p) })
	for _, c := range append(packings(messageBytes, messageTimes), deltas(messageBytes, messageTimes)...) {
		jobs = append(jobs, func() (*Table, error) { return c.run(o, p) })
	}
	for _, n := range w.sizes {
		if n <= nearKeys {
			jobs = append(jobs, func() (*Table, error) { return runStatic(n, o, p) })
		}
	}
	jobs = append(jobs, multicasts(o, p)...)
	for _, job := range jobs {
		t, err := job()
		if err != nil {
			return err
		}
		if t != nil {
			r.Tables = append(r.Tables, t)
		}
	}
	if len(r.Tables) == 0 {
		return fmt.Errorf("no path matches %q", o.only)
	}
	return nil
}

// print writes the report to standard output and, if file is not empty, to a file, with the
// targets in the file of the same name in the directory targets next to it.
func (r *Report) print(asJSON bool, file string) error {
	var md, targets bytes.Buffer
	r.markdown(&md)
	r.targets(&targets)
	if file != "" {
		if err := os.WriteFile(file, md.Bytes(), 0o666); err != nil {
			return err
		}
		file = filepath.Join(filepath.Dir(file), "targets", filepath.Base(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, targets.Bytes(), 0o666); err != nil {
			return err
		}
	}
	if asJSON {
		return r.json(os.Stdout)
	}
	_, err := md.WriteTo(os.Stdout)
	return err
}
