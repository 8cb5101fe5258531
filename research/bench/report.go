package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Report is all that a run gives.
type Report struct {
	Command string    `json:"command"`
	Date    string    `json:"date"`
	CPU     string    `json:"cpu"`
	Cores   int       `json:"cores"`
	Go      string    `json:"go"`
	Rounds  int       `json:"rounds"`
	Peers   []string  `json:"peers"` // modules and versions
	Tables  []*Table  `json:"tables"`
	Targets []Verdict `json:"targets"`
}

func newReport(args []string, rounds int) *Report {
	return &Report{
		Command: strings.Join(append([]string{"go run ./research/bench"}, quoted(args)...), " "),
		Date:    time.Now().Format(time.DateOnly),
		CPU:     cpuid.CPU.BrandName,
		Cores:   runtime.GOMAXPROCS(0),
		Go:      runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Rounds:  rounds,
		Peers:   peers(),
	}
}

func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = a; strings.ContainsAny(a, " |()*^$\\'\"") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}

// peers lists the modules that the program's contestants and hashes come from.
func peers() (list []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	known := []string{
		"bits-and-blooms/bloom/", "BoomFilters", "holiman/bloomfilter", "dgraph-io/ristretto",
		"greatroar/blobloom", "parquet-go/parquet-go", "FastFilter/xorfilter", "zeebo/xxh3", "cespare/xxhash", "klauspost/compress",
	}
	for _, m := range info.Deps {
		for _, k := range known {
			if strings.Contains(m.Path, k) {
				list = append(list, m.Path+" "+m.Version)
			}
		}
	}
	return list
}

// table returns the table of that path, nil if it wasn't measured.
func (r *Report) table(path string) *Table {
	for _, t := range r.Tables {
		if t.Path == path {
			return t
		}
	}
	return nil
}

func (r *Report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(r)
}

func (r *Report) markdown(w io.Writer) {
	fmt.Fprintf(w, "# Measured speeds\n\n    %s\n\n", r.Command)
	fmt.Fprintf(w, "%s; %s, %d cores used; %s; the best of %d rounds, the median in brackets.\n\n",
		r.Date, r.CPU, r.Cores, r.Go, r.Rounds)
	fmt.Fprintln(w, "Compare only rows of equal bits per key and equal rate. Ratios hold better than times.")
	fmt.Fprintln(w, "An addition of a static filter is its making, divided by its keys.")
	fmt.Fprintf(w, "A batch is one call for each %d keys.\n\n", batch)
	for _, p := range r.Peers {
		fmt.Fprintf(w, "- %s\n", p)
	}
	fmt.Fprintln(w)
	for _, t := range r.Tables {
		t.markdown(w)
	}
	if len(r.Targets) == 0 {
		return
	}
	fmt.Fprint(w, "## Targets\n\nRatios of best times, those of medians in brackets.\n\n| target | wanted | measured | |\n| --- | --- | --- | --- |\n")
	for _, v := range r.Targets {
		line(w, []string{v.Claim, v.Want, v.Measured, v.word()})
	}
}
