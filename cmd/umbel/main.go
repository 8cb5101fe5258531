// Command umbel makes, queries, folds, merges and compares Bloom filters and their relatives,
// in files and on a node, and runs a node (umbel serve). umbel --help lists the verbs. A verb
// consists of flags, a call to an internal package, and printing.
package main

import (
	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/program"
	"github.com/umbel-filters/umbel/cmd/internal/group/logdir"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

func main() { cli.Main(rootCommand()) }

// rootCommand returns the tree of all commands. Package cmd/cloud/umbel has it with more engines.
func rootCommand() *cobra.Command {
	return cli.Root(program.Umbel(program.Engines{Logs: sharedlog.Openers{"file": logdir.Open}}))
}
