// Command docpictures draws the pictures of README.md and docs from real filters, from plans and from
// the tables of measurements. go generate writes them to docs/pictures.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

//go:generate go run . ../../../..
//go:generate go run ../../../umbel-multicast trace -q --topology grid:6x6 --sender 0-0 --receivers 5-5,0-5,3-2 --svg ../../../../docs/pictures/multicast.svg

// pictures contains each picture by its file. root is the root of the repository, whose documents
// contain the measurements.
var pictures = map[string]func(w io.Writer, root string) error{
	"umbel.svg":  drawHero,
	"rates.svg":  drawRates,
	"times.svg":  drawTimes,
	"deltas.svg": drawDeltas,
	"blocks.svg": drawBlocks,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docpictures ROOT")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "docpictures:", err)
		os.Exit(1)
	}
}

// write draws all pictures into docs/pictures below root.
func write(root string) error {
	for name, draw := range pictures {
		var b bytes.Buffer
		if err := draw(&b, root); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(root, "docs", "pictures", name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
