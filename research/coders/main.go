// Coders compares the sizes of whole messages: umbel's, with their heads, next to Golomb's code, general compressors and
// the entropy. It prints Markdown tables in bytes, without times.
//
//	go run ./research/coders                              # 10^2 to 10^7 keys: about twenty minutes of one core, 3 GiB
//	go run ./research/coders --most 1e4                   # fewer keys: seconds
//	go run ./research/coders --most 1e6 --md docs/measurements-coders.md
//
// zstd, brotli and xz are programs on PATH; without one, its column is empty. A compressor gets the words of the
// array and nothing else, so that it has no head of a filter, and arrays of at most 4 MiB.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	most := flag.Float64("most", 1e7, "largest number of keys")
	file := flag.String("md", "", "write the tables to `FILE` instead of standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var text bytes.Buffer
	fmt.Fprintf(&text, head, strings.Replace(fmt.Sprint(*most), "e+0", "e", 1), time.Now().Format(time.DateOnly))
	if err := report(ctx, &text, uint64(*most)); err != nil {
		log.Fatal("coders: ", err)
	}
	if *file == "" {
		_, _ = os.Stdout.Write(text.Bytes())
	} else if err := os.WriteFile(*file, text.Bytes(), 0o666); err != nil {
		log.Fatal("coders: ", err)
	}
}

const head = `# Sizes of messages

    go run ./research/coders --most %s --md docs/measurements-coders.md

%s. Bytes of whole messages. Columns of umbel have its head, with hasher, parameters and checksum; the others have none. The smallest
message of each row is bold; the entropy is no message.
`

// report writes the tables.
func report(ctx context.Context, w io.Writer, most uint64) error {
	tools := findPrograms()
	fmt.Fprint(w, setsText)
	sets := table{columns: setColumns, bound: 1}
	for n := uint64(100); n <= most; n *= 10 {
		for _, rate := range []float64{0.1, 0.01, 0.001, 0.0001, 0.00001} {
			log.Printf("sets: %d keys, rate %g", n, rate)
			row, err := setRow(ctx, tools, n, rate)
			if err != nil {
				return fmt.Errorf("%d keys, rate %g: %w", n, rate, err)
			}
			sets.add([]string{count(n), fmt.Sprint(rate)}, row)
		}
	}
	sets.write(w)
	fmt.Fprint(w, changesText)
	changes := table{columns: changeColumns, bound: 1}
	for n := uint64(100); n <= min(most, 1_000_000); n *= 10 {
		for _, d := range designs {
			for _, share := range []float64{0.001, 0.01, 0.05, 0.2} {
				if share*float64(n) < 1 {
					continue
				}
				log.Printf("changes: %d keys, %s, %g", n, d.name, share)
				row, err := changeRow(ctx, tools, n, d, share)
				if err != nil {
					return fmt.Errorf("%d keys, %s, %g changed: %w", n, d.name, share, err)
				}
				changes.add([]string{count(n), d.name, fmt.Sprintf("%g %%", 100*share)}, row)
			}
		}
	}
	changes.write(w)
	return nil
}

// table is a Markdown table of bytes.
type table struct {
	columns []string
	bound   int // number of columns of bytes that are no messages, before the others
	rows    [][]string
}

// add adds a row. A size of 0 is an empty cell.
func (t *table) add(names []string, sizes []uint64) {
	least := uint64(0)
	for _, s := range sizes[t.bound:] {
		if s > 0 && (least == 0 || s < least) {
			least = s
		}
	}
	row := names
	for i, s := range sizes {
		switch {
		case s == 0:
			row = append(row, "")
		case s == least && i >= t.bound:
			row = append(row, "**"+count(s)+"**")
		default:
			row = append(row, count(s))
		}
	}
	t.rows = append(t.rows, row)
}

func (t *table) write(w io.Writer) {
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(t.columns, " | "), strings.Repeat(" ---: |", len(t.columns)))
	for _, r := range t.rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(r, " | "))
	}
}

// count formats n with commas.
func count(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
