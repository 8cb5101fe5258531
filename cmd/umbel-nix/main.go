// Command umbel-nix publishes summaries of Nix binary caches, and answers Nix clients by them. umbel-nix --help lists the
// verbs.
package main

import (
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/nix/verbs"
)

func main() { cli.Main(cli.Root(verbs.Program())) }
