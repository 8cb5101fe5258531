// Command umbel-multicast sends packets along trees that are encoded in the packets: it plans, simulates and runs them. umbel-multicast --help lists the
// verbs.
package main

import (
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/multicast/verbs"
)

func main() { cli.Main(cli.Root(verbs.Program())) }
