// Command umbel makes, queries, folds, merges and compares Bloom filters and their relatives,
// in files and on a node, and runs a node (umbel serve). umbel --help lists the verbs. A verb
// consists of flags, a call to an internal package, and printing.
package main

import (
	"github.com/umbel-filters/umbel/cmd/internal/cli"
)

func main() { cli.Main(rootCommand()) }
