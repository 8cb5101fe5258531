// Papers recomputes the tables and figures of the papers that umbel uses, with umbel's
// formulas, filters and coders. It writes docs/papers.md, which compares printed,
// recomputed and measured numbers.
//
//	go run ./research/papers                        # everything, from the root of the repository
//	go run ./research/papers --list                 # the names of the pieces
//	go run ./research/papers --only 004/table       # pieces whose names match
//	go run ./research/papers --print --only 002/costs # an existing table, for another document
//	go run ./research/papers --report               # only the document, from existing files
//	go run ./research/papers --trials 100000        # as many trials as in paper 004
//
// A piece is one table, figure or claim. Its files in docs/papers contain rows and points
// as CSV, and a figure as SVG and PNG; PNG files are not committed. The document is
// assembled from these files, so pieces can be made separately.
//
// The state of simulations is stored in docs/papers/.work, which is not committed: a
// run continues where an interrupted one stopped, and reuses existing trials. Results
// depend on the seed and the number of trials, but not on the number of goroutines.
//
// Paper 002 sends packets over networks. The maps of providers are not in this
// repository: --topologies is a directory that contains them in edges/*.tsv, in the
// format of topology.ReadTSV. Without it, the networks are generated. With 25 maps,
// these pieces take six minutes of one core.
//
// On one core of an AMD EPYC, 1000 trials of paper 004 take 22 seconds. The coder of its
// appendix takes 21 seconds more per 1000 trials, up to 5000. With 2000 trials, the
// default, paper 004 takes a minute on two cores, with 100000 about 20 minutes. The other
// papers take 100 seconds of one core with 2000 trials, without networks; 40 of these are the
// random search of paper 002, four runs for each point. The contacts of paper 000 take 210
// seconds of one core.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"github.com/umbel-filters/umbel/research/papers/adaptive"
	"github.com/umbel-filters/umbel/research/papers/advances"
	"github.com/umbel-filters/umbel/research/papers/compressed"
	"github.com/umbel-filters/umbel/research/papers/folds"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
	"github.com/umbel-filters/umbel/research/papers/scaled"
)

// papers contains the papers in the order of the document.
var papers = []piece.Paper{
	folds.Paper, scaled.Paper, adaptive.Paper, advances.Paper, compressed.Paper,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "papers: interrupted; the same command continues the run")
		os.Exit(130)
	case err != nil && !errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(os.Stderr, "papers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("papers", flag.ContinueOnError)
	only := flags.String("only", "", "make only the pieces whose names match this regular expression")
	out := flags.String("out", filepath.Join("docs", "papers"), "directory of the files; the document is this path with .md")
	trials := flags.Int("trials", 2000, "trials per simulation; paper 004 has 100000")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "number of goroutines")
	seed := flags.Uint64("seed", 1, "seed of all simulations")
	topologies := flags.String("topologies", os.Getenv("UMBEL_TOPOLOGIES"), "directory with networks in edges/*.tsv for paper 002 (default: generated networks)")
	list := flags.Bool("list", false, "print the names of the pieces")
	tables := flags.Bool("print", false, "print the existing tables of the pieces as Markdown")
	report := flags.Bool("report", false, "write only the document, from existing files")
	if err := flags.Parse(args); err != nil {
		return err
	}
	match, err := regexp.Compile(*only)
	switch {
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; see -help", flags.Arg(0))
	case *trials < 2 || *trials > 1e9:
		return fmt.Errorf("%d trials, want 2 to 1e9", *trials)
	case *workers < 1:
		return fmt.Errorf("%d workers, want at least 1", *workers)
	}
	if *report {
		return piece.Report(papers, *out)
	}
	pieces := piece.Select(papers, match)
	if len(pieces) == 0 {
		return fmt.Errorf("no piece matches %q; see --list", match)
	}
	if *list {
		for _, p := range pieces {
			fmt.Printf("%-24s %s\n", p.Name, p.Title)
		}
		return nil
	}
	if *tables {
		for _, p := range pieces {
			if err := p.Print(os.Stdout, *out); err != nil {
				return err
			}
		}
		return nil
	}
	show := newProgress(os.Stderr)
	defer show.clear()
	r := piece.Run{Trials: *trials, Topologies: *topologies, Runner: &trial.Runner{
		Dir: filepath.Join(*out, ".work"), Seed: *seed, Workers: *workers, Show: show.trials,
	}}
	for i, p := range pieces {
		show.piece(fmt.Sprintf("%d/%d %s", i+1, len(pieces), p.Name))
		if err := p.MakeIn(ctx, *out, r); err != nil {
			return err
		}
	}
	return piece.Report(papers, *out)
}

// progress shows the current piece on a terminal. It writes nothing to other files.
type progress struct {
	terminal *os.File // nil to show nothing
	scope    string
}

func newProgress(f *os.File) *progress {
	p := &progress{}
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p.terminal = f
	}
	return p
}

// piece starts the line of a piece.
func (p *progress) piece(name string) {
	p.scope = name
	p.show("")
}

// trials shows the progress of a simulation; per is the time of a trial in seconds.
func (p *progress) trials(name string, done, trials int, per float64) {
	left := time.Duration(per * float64(trials-done) * float64(time.Second)).Round(time.Second)
	p.show(fmt.Sprintf(": %s, %d of %d trials, %v left", name, done, trials, left))
}

func (p *progress) show(what string) {
	if p.terminal != nil {
		fmt.Fprintf(p.terminal, "\r\x1b[K%s%s", p.scope, what)
	}
}

// clear deletes the line.
func (p *progress) clear() {
	if p.terminal != nil {
		fmt.Fprint(p.terminal, "\r\x1b[K")
	}
}
