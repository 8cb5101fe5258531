// Package cli is the frame of the programs' verbs: main.go runs a command line and has the exit codes, root.go makes the tree
// of verbs and suggests them, streams.go has what a verb reads and reports, flags.go, input.go and output.go what many
// verbs take, print.go the results, help.go and man.go the descriptions. The verbs are in packages by product: filters,
// nodes and publications below this one, which program lists, and verbs in webcache, nix and multicast. The other packages below this one are for
// terminals.
package cli
