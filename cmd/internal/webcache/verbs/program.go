package verbs

import (
	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
)

const programHelp = `serve is a shared HTTP cache, alone or among siblings. siblings is a sidecar, with which caches of other programs use
what their siblings hold. squid is for the cache digests of Squid. See docs/webcaches.md.

Private keys of publications are made by umbel keygen. Results go to standard output, everything else to standard error.

Exit codes: 0 success; 1 all URLs are absent (umbel-cache squid has); 2 error; 130 ended by ^C, and 143 by SIGTERM, except for
servers, which then end with 0.`

// Program returns the program umbel-cache.
func Program() cli.Program {
	return cli.Program{
		Name: "umbel-cache", Short: "HTTP caches that use what their siblings hold", Long: programHelp,
		Example: cacheExample + "\n" + squidFetchExample + "\n" + squidRelayExample,
		Groups:  []cli.Group{{Title: "Verbs", Verbs: []*cobra.Command{serveCommand(), siblingsCommand(), squidCommand()}}},
	}
}
