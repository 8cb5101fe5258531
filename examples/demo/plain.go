package main

import (
	"fmt"
	"io"
	"strings"
)

// WriteHeader writes the header of the lines of WriteLine.
func (r Report) WriteHeader(w io.Writer) error {
	names := make([]string, len(r.Subscribers))
	for i, s := range r.Subscribers {
		names[i] = s.Name
	}
	return writeLine(w, "time", "keys", "version", "received", names)
}

// WriteLine writes a report as a line of text: for each subscriber its state, and by how many versions it is
// behind.
func (r Report) WriteLine(w io.Writer) error {
	states := make([]string, len(r.Subscribers))
	for i, s := range r.Subscribers {
		if states[i] = string(s.State); s.Behind > 0 {
			states[i] += " by " + count(s.Behind)
		}
	}
	return writeLine(w, seconds(r.Seconds), count(r.Set.Keys), count(r.Set.Version), count(r.Received), states)
}

func writeLine(w io.Writer, time, keys, version, received string, states []string) error {
	var b strings.Builder
	b.WriteString(cell(-6, time) + cell(-11, keys) + cell(-9, version) + cell(-11, received))
	for _, s := range states {
		b.WriteString("  " + cell(nameWidth, s))
	}
	_, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	return err
}

// WriteSummary writes the result in two lines.
func (r Report) WriteSummary(w io.Writer) error {
	present := uint64(0)
	for _, s := range r.Subscribers {
		present += s.Present
	}
	versions := "versions"
	if r.Set.Version == 1 {
		versions = "version"
	}
	_, err := fmt.Fprintf(w, "%s %s, %s bytes received, %s of %s present keys not found\ncopies: %s packed, %s in memory; key lists: %s\n",
		count(r.Set.Version), versions, count(r.Received), count(r.Wrong), count(present), count(r.Costs.Packed), count(r.Costs.Unpacked), count(r.Costs.Lists))
	return err
}
