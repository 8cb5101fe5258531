package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"text/tabwriter"

	"github.com/umbel-filters/umbel/research/cachetests/internal/client"
	"github.com/umbel-filters/umbel/research/cachetests/internal/origin"
	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
	"github.com/umbel-filters/umbel/research/cachetests/internal/verdict"
)

// writeText prints the failures in the order of the file, the counts and the differences.
func writeText(w io.Writer, tests []*suite.Test, r report) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range tests {
		if v := r.Verdicts[t.ID]; !v.Pass() {
			fmt.Fprintf(table, "%s\t%s\t%v\n", t.Kind, t.ID, v)
		}
	}
	fmt.Fprintf(table, "\nkind\ttests\tpassed raw\tdisplayed\tfailed\tset-up failed\tnot applicable\tof CDN-Cache-Control\n")
	for _, c := range r.Counts {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d of %d passed\n",
			c.Kind, c.Tests, c.Raw, c.Displayed, c.Failed, c.SetupFailed, c.NotApplicable, c.CDNRaw, c.CDN)
	}
	if len(r.Differences) > 0 {
		fmt.Fprintln(table)
	}
	for _, d := range r.Differences {
		fmt.Fprintf(table, "%s\trecorded\t%v\n\tnow\t%v\n", d.ID, orAbsent(d.Recorded), orAbsent(d.Now))
	}
	return table.Flush()
}

func orAbsent(v *verdict.Verdict) string {
	if v == nil {
		return "absent"
	}
	return v.String()
}

// tracer prints what client and origin received.
func tracer(w io.Writer) func(*suite.Test, verdict.Verdict, []*client.Response, []origin.Seen) {
	return func(t *suite.Test, v verdict.Verdict, received []*client.Response, seen []origin.Seen) {
		fmt.Fprintf(w, "%s: %s\n", t.ID, t.Name)
		for i, s := range seen {
			fmt.Fprintf(w, "\nthe origin received, as number %d, request %d: %s\n", i+1, s.Number, s.Method)
			writeHeader(w, s.Header)
		}
		for i, r := range received {
			fmt.Fprintf(w, "\nthe client received response %d: status %d, %d bytes\n", i+1, r.Status, len(r.Body))
			for _, interim := range r.Interim {
				fmt.Fprintf(w, "  after interim response %d\n", interim.Status)
				writeHeader(w, interim.Header)
			}
			writeHeader(w, r.Header)
		}
		fmt.Fprintf(w, "\n%v\n\n", v)
	}
}

func writeHeader(w io.Writer, h http.Header) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			fmt.Fprintf(w, "  %s: %s\n", name, value)
		}
	}
}
