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

	"github.com/umbel-filters/umbel/research/papers/adaptive"
	"github.com/umbel-filters/umbel/research/papers/advances"
	"github.com/umbel-filters/umbel/research/papers/compressed"
	"github.com/umbel-filters/umbel/research/papers/folds"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
	"github.com/umbel-filters/umbel/research/papers/scaled"
)

// papers are those of which pieces are made, in the order of the document.
var papers = []piece.Paper{
	folds.Paper, scaled.Paper, adaptive.Paper, advances.Paper, compressed.Paper,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "papers: interrupted; the same command goes on from here")
		os.Exit(130)
	case err != nil && !errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(os.Stderr, "papers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("papers", flag.ContinueOnError)
	only := flags.String("only", "", "make only pieces whose names match this regular expression")
	out := flags.String("out", filepath.Join("docs", "papers"), "directory of the files; the document is DIR.md")
	trials := flags.Int("trials", 2000, "trials of each simulation; paper 004 has 100000")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "goroutines")
	seed := flags.Uint64("seed", 1, "of all simulations")
	topologies := flags.String("topologies", os.Getenv("UMBEL_TOPOLOGIES"), "directory with networks, edges/*.tsv, for paper 002; without it they are made by rule")
	list := flags.Bool("list", false, "print the names of the pieces and make none")
	tables := flags.Bool("print", false, "print the tables of pieces made before, in Markdown, and make none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	match, err := regexp.Compile(*only)
	switch {
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected %q: see -help", flags.Arg(0))
	case *trials < 2 || *trials > 1e9:
		return fmt.Errorf("%d trials, want 2 to 1e9", *trials)
	case *workers < 1:
		return fmt.Errorf("%d workers, want at least 1", *workers)
	}
	pieces := piece.Select(papers, match)
	if len(pieces) == 0 {
		return fmt.Errorf("no piece matches %s: see --list", match)
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
