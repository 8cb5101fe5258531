package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

// answer prints the result of a verb: v as one JSON object, or with text.
func answer(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if wantsJSON(cmd) {
		return jsonLine(cmd.OutOrStdout(), v)
	}
	return text(cmd.OutOrStdout())
}

// report is [answer] for a verb that wrote a file. If the file is standard output, the result
// goes to standard error.
func report(cmd *cobra.Command, file string, v any, text func(io.Writer) error) error {
	if isStdout(file) {
		cmd.SetOut(cmd.ErrOrStderr())
	}
	return answer(cmd, v, text)
}

// isStdout reports whether the file at path is standard output, for example "-" or /dev/stdout, and
// not a regular file, which is replaced when it is written.
func isStdout(path string) bool {
	if path == "-" {
		return true
	}
	file, err := os.Stat(path)
	if err != nil || file.Mode().IsRegular() {
		return false
	}
	out, err := os.Stdout.Stat()
	return err == nil && os.SameFile(file, out)
}

// flush writes what a verb has printed, before it goes on.
func flush(cmd *cobra.Command) error {
	if b, ok := cmd.OutOrStdout().(*bufio.Writer); ok {
		return b.Flush()
	}
	return nil
}

// jsonLine writes v as one line of JSON.
func jsonLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// jsonLines writes each value of list as a line of JSON.
func jsonLines[T any](w io.Writer, list []T) error {
	for _, v := range list {
		if err := jsonLine(w, v); err != nil {
			return err
		}
	}
	return nil
}

// answerAll prints the results of a verb: each as one JSON object, or all with text.
func answerAll[T any](cmd *cobra.Command, list []T, text func(io.Writer) error) error {
	if wantsJSON(cmd) {
		return jsonLines(cmd.OutOrStdout(), list)
	}
	return text(cmd.OutOrStdout())
}

// float is a number that may be infinite; in JSON that is null.
type float float64

func (f float) MarshalJSON() ([]byte, error) {
	if x := float64(f); math.IsInf(x, 0) || math.IsNaN(x) {
		return []byte("null"), nil
	}
	if f == 0 {
		return []byte("0"), nil // not -0
	}
	return json.Marshal(float64(f))
}

// keyJSON is a key in JSON: as text, or in hexadecimal if it isn't UTF-8.
type keyJSON struct {
	Key    *string `json:"key,omitempty"`
	KeyHex string  `json:"keyHex,omitempty"`
}

func newKeyJSON(key []byte) keyJSON {
	if !utf8.Valid(key) {
		return keyJSON{KeyHex: hex.EncodeToString(key)}
	}
	s := string(key)
	return keyJSON{Key: &s}
}

// summary is the result of a verb that writes a filter.
type summary struct {
	File   string   `json:"file,omitempty"` // "": in memory only
	Kind   string   `json:"kind"`
	Cells  uint64   `json:"cells"`
	K      float    `json:"k"`
	Bytes  uint64   `json:"bytes"`
	Keys   keysInfo `json:"keys"`
	Fill   float    `json:"fill"`
	FPRate float    `json:"fpRate"`
	// Planned is what the filter was made for, if that is known.
	Planned *plannedInfo `json:"planned,omitempty"`
	Read    *uint64      `json:"read,omitempty"` // keys read
	// Distinct is the number of different keys read, counted or estimated.
	Distinct uint64 `json:"distinct,omitempty"`
	Fold     uint64 `json:"fold,omitempty"` // factor of a fold
	// Replaced is the filter that was in the file before, if umbel make replaced one.
	Replaced *replacedFilter `json:"replaced,omitempty"`
	// Weights is what a log of queries has gained.
	Weights *weightsInfo `json:"weights,omitempty"`
}

func summarize(file string, f umbel.Filter) summary {
	s, state := f.Stats(), f.State()
	return summary{
		File: file, Kind: state.Kind, Planned: newPlannedInfo(state.Planned, s.FPRate), Cells: s.Cells, K: float(s.K), Bytes: s.Bytes,
		Keys: keysOfStats(s), Fill: float(s.Fill), FPRate: float(s.FPRate),
	}
}

// summaryOf is [summarize] for a filter on a node.
func summaryOf(name string, in remote.Info) summary {
	return summary{
		File: name, Kind: in.Kind, Planned: nodePlannedInfo(in.Planned), Cells: in.Cells, K: float(in.K), Bytes: in.Bytes,
		Keys: nodeKeys(in.Keys), Fill: float(in.Fill), FPRate: float(in.FPRate),
	}
}

// print prints the summary, unless --quiet. done is the text for what was done.
func (s summary) print(cmd *cobra.Command, done string) error {
	if isQuiet(cmd) {
		return nil
	}
	return report(cmd, s.File, s, func(w io.Writer) error { return s.write(w, done) })
}

// write writes the summary. The filter may be in memory only, without a file.
func (s summary) write(w io.Writer, done string) error {
	if s.File != "" {
		done = s.File + ": " + done
	}
	_, err := fmt.Fprintf(w, "%s\n%s filter of %v cells, k %.4g, %v; %s; false-positive rate %s\n",
		done, s.Kind, quantity.Count(s.Cells), s.K, quantity.Size(s.Bytes), s.Keys.brief(s.Kind), rateOf(float64(s.FPRate)))
	if err == nil && s.Weights != nil {
		err = s.Weights.write(w)
	}
	return err
}

// rateOf formats a measured rate, which may be 0.
func rateOf(p float64) string {
	if p == 0 {
		return "0"
	}
	return quantity.Rate(p).String()
}
