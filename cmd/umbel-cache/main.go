// Command umbel-cache runs HTTP caches that use what their siblings hold, and works with the cache digests of Squid. umbel-cache --help lists the
// verbs.
package main

import (
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/verbs"
)

func main() { cli.Main(cli.Root(verbs.Program())) }
