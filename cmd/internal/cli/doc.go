// Package cli is the frame of the programs' verbs: main.go runs a command line and has the exit codes, root.go checks
// arguments and suggests verbs, flags.go, input.go and output.go have what many verbs take, print.go and warnings.go
// print results and messages, help.go and man.go describe verbs. The verbs are in packages by product: filters, nodes
// and publications below this one, and verbs in webcache, nix and multicast.
package cli
