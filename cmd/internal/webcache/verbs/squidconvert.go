package verbs

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

const squidImportHelp = `Make a filter of kind squid from a cache digest. It has the same bits, and the other verbs work with it:
umbel pack, diff, patch, fold, merge and publish. Its keys are those of Squid, which umbel-cache squid has
makes from URLs; umbel has takes their bytes as they are.`

const squidImportExample = `  umbel-cache squid import monday.digest -o monday.umb
  umbel-cache squid import tuesday.digest -o tuesday.umb
  umbel diff monday.umb tuesday.umb -o tuesday.delta`

const squidExportHelp = `Write a filter of kind squid as a cache digest, for Squids to read. The number of objects is estimated.

With --tolerant the digest is in a form that all releases of Squid read without false negatives. A
small digest becomes up to about 50 KB long by that.`

const squidExportExample = `  umbel-cache squid export tuesday.umb -o tuesday.digest --tolerant`

func squidImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "import DIGEST -o FILE",
		Short:   "make a filter from a cache digest",
		Long:    squidImportHelp,
		Example: squidImportExample,
		Args:    cli.Arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	output := cli.AddOutputFlag(cmd, "`FILE` to write", cli.OutputFlag{})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return cli.UsageError(cmd, cli.ErrNoOutput)
		}
		d, err := readDigest(cmd, args[0])
		if err != nil {
			return err
		}
		f, err := d.Filter()
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		if err := container.Write(*output, f.State()); err != nil {
			return err
		}
		return filters.Summarize(*output, f).Print(cmd, "imported from "+args[0])
	}
	return cmd
}

func squidExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export FILE -o DIGEST",
		Short:   "write a filter as a cache digest",
		Long:    squidExportHelp,
		Example: squidExportExample,
		Args:    cli.Arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	output := addDigestFlag(cmd, cli.OutputFlag{})
	tolerant := cmd.Flags().Bool("tolerant", false, "make it readable for Squids with bug 5510")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return cli.UsageError(cmd, cli.ErrNoOutput)
		}
		d, err := exported(cmd, args[0], *tolerant)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		if err := writeDigest(*output, d); err != nil || cli.IsQuiet(cmd) {
			return err
		}
		in, err := describeDigest(*output, d)
		if err != nil {
			return err
		}
		return cli.Report(cmd, *output, in, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: exported from %s, %v bytes; false-positive rate %s\n", in.File, args[0], quantity.Count(in.Bytes), cli.RateOf(float64(in.FPRate)))
			return err
		})
	}
	return cmd
}

// exported returns the digest of the filter, or digest, in the file at path.
func exported(cmd *cobra.Command, path string, tolerant bool) (squid.Digest, error) {
	var d squid.Digest
	f, err := readSquid(cmd, path)
	if err == nil {
		d, err = f.Digest()
	}
	if err == nil && tolerant {
		d, err = d.Relayed()
	}
	return d, err
}
