package filters

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
)

const verifyHelp = `Read the filter in FILE completely and compare its checksum. The verbs that query a large filter read only the
cells that they need, so that they don't find damage elsewhere.`

type verifiedFilter struct {
	File string `json:"file"`
	Kind string `json:"kind"`
}

// VerifyCommand is umbel verify.
func VerifyCommand() *cobra.Command {
	return cli.Verb(&cobra.Command{
		Use: "verify FILE", Short: "check a filter for damage", Long: verifyHelp, Example: "  umbel verify words.umb",
		Args: cli.Arguments(1, 1),
	}, verify)
}

func verify(_ context.Context, streams *cli.Streams, args []string) error {
	kind, err := container.Verify(args[0])
	if err != nil {
		return err
	}
	return streams.Answer(verifiedFilter{args[0], kind}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: undamaged filter of kind %s\n", args[0], kind)
		return err
	})
}
