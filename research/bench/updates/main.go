// Updates compares what it costs to keep copies of a changing set at receivers: with umbel's
// publications, and with other methods. It prints the table of docs/share.md.
//
//	go run ./research/bench/updates
//
// The set contains 100,000 keys, and a share of them is replaced. Each method sends the whole set and
// then the change to a receiver, which decodes both; then all keys of the new set are queried, and the
// rate is measured with other keys. Sizes are means of two sets. They are those of the messages,
// without the headers of a transport. A test compares the table with the page.
//
// Squid, Safe Browsing and BIP 158 are represented by their encodings, as their public documents
// describe them. bsdiff has no row: zstd with the old filter as dictionary finds the same matches.
package main

import (
	"fmt"
	"os"
)

// published is the comparison of docs/share.md.
var published = comparison{keys: 100_000, replaced: []int{100, 1000, 5000}, sets: 2, trials: 1_000_000}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "updates:", err)
		os.Exit(1)
	}
}

func run() error {
	rows, err := published.run()
	if err != nil {
		return err
	}
	fmt.Print(markdown(published.replaced, rows))
	return nil
}
