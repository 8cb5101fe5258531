// Package verbs has the verbs of umbel-nix, for Nix binary caches.
package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/foreignfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

const nixHelp = `Summaries of Nix binary caches: which store paths a cache may have. make, has and info are for files
NixBloom, which Nix itself can read. publish publishes the paths of a cache, so that clients receive only
what changes. serve is a local substituter: it answers at once for paths that no cache has. See docs/nix.md.

Private keys of publications are made by umbel keygen. Results go to standard output, everything else to standard error.

Exit codes: 0 success, or a cache may have a path; 1 it has none of the paths (umbel-nix has); 2 error; 4 too many paths are lost
(umbel-nix publish); 130 ended by ^C, and 143 by SIGTERM, except for servers, which then end with 0.`

const nixExample = `  nix path-info --all | umbel-nix make -o bloom-filter -
  umbel-nix publish /var/cache/nix --to public --key cache.example.org.key --follow --listen :8080
  umbel-nix serve --upstream https://cache.example.org=https://cache.example.org/umbel,cache.example.org.pub`

// Program returns the program umbel-nix.
func Program() cli.Program {
	return cli.Program{
		Name: "umbel-nix", Short: "summaries of Nix binary caches", Long: nixHelp, Example: nixExample,
		Groups: []cli.Group{{Title: "Verbs", Verbs: []*cobra.Command{
			nixPublishCommand(), nixServeCommand(), nixMakeCommand(), nixHasCommand(), nixInfoCommand(),
		}}},
	}
}

const nixMakeHelp = `Make the file NixBloom of the store paths in a list, as nix path-info --all prints them, or of the files
HASH.narinfo in the directory of a binary cache. It has the size that Nix would give it. A cache offers it with
the line "BloomFilter: /bloom-filter" in its nix-cache-info.`

// defaultNixRate is the rate of the filters that Nix makes.
const defaultNixRate = 0.0001

func nixMakeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "make LIST|DIRECTORY|- -o FILE",
		Short:   "make the file NixBloom of store paths",
		Long:    nixMakeHelp,
		Example: "  nix path-info --all | umbel-nix make -o bloom-filter -\n  umbel-nix make -o bloom-filter /var/cache/nix --fpr 0.1%",
		Args:    cli.Arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	o := &nixMakeOptions{rate: defaultNixRate}
	cmd.Flags().VarP(&o.rate, "fpr", "p", "false-positive `RATE`")
	cli.AddOutputFlag(cmd, &o.output, "`FILE` to write", cli.OutputFlag{Heads: []string{"NixBloom"}})
	return cli.Verb(cmd, o.run)
}

// nixMakeOptions are the flags of umbel-nix make.
type nixMakeOptions struct {
	output string
	rate   quantity.Rate
}

func (o *nixMakeOptions) run(_ context.Context, streams *cli.Streams, args []string) error {
	if o.output == "" {
		return cli.UsageError(cli.ErrNoOutput)
	}
	paths, err := readPaths(streams, args[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if len(paths) == 0 {
		return fmt.Errorf("no store paths were read from %s; check the command or directory that they come from", args[0])
	}
	f, err := paths.NixBloom(float64(o.rate))
	if err != nil {
		return err
	}
	file, err := f.AppendFile(nil)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(o.output, func(w io.Writer) error { _, err := w.Write(file); return err }); err != nil {
		return err
	}
	s := filters.Summarize(o.output, f)
	read := uint64(len(paths))
	s.Read = &read
	return s.Print(streams, fmt.Sprintf("%v paths read", quantity.Count(read)))
}

// readPaths reads a list, or the directory of a cache; "-" is standard input.
func readPaths(streams *cli.Streams, name string) (nixcache.Paths, error) {
	if name == "-" {
		return nixcache.ReadList(streams.StandardInput())
	}
	s, err := nixcache.NewSource(name)
	if err != nil {
		return nil, err
	}
	return s.Read()
}

const nixHasHelp = `Query the file NixBloom for store paths, names of narinfo files or hashes, and print those that the cache
may have. Without PATH they are read from standard input. With --json one object is printed per path, present or
absent.

The exit code is that of grep: 0 if the cache may have some of them, 1 if it has none, 2 on an error. With --all it is
0 only if the cache may have all.`

func nixHasCommand() *cobra.Command {
	q := new(nixQuery)
	cmd := &cobra.Command{
		Use:     "has FILE [PATH...]",
		Short:   "query a file NixBloom for store paths",
		Long:    nixHasHelp,
		Example: "  umbel-nix has bloom-filter /nix/store/nvd61k9nalji1zl9rrdfmsmvyyjqpzg4-hello-2.12\n  nix path-info --all | umbel-nix has bloom-filter",
		Args:    cli.Arguments(1, -1),
	}
	q.AddFlag(cmd)
	return cli.Verb(cmd, q.run)
}

func (q *nixQuery) run(ctx context.Context, streams *cli.Streams, args []string) error {
	f, _, err := openNixBloom(streams, args[0])
	if err != nil {
		return err
	}
	q.Streams, q.f = streams, f
	for _, path := range args[1:] {
		if err := q.query([]byte(path)); err != nil {
			return err
		}
	}
	if len(args) == 1 {
		if err := q.queryLines(ctx); err != nil {
			return err
		}
	}
	return q.End()
}

// nixQuery is one run of umbel-nix has.
type nixQuery struct {
	filters.Selection
	*cli.Streams
	f *nixbloom.Filter
}

// queryLines queries the paths on standard input.
func (q *nixQuery) queryLines(ctx context.Context) error {
	none := true
	for list, err := range cli.KeyBatches(ctx, keys.Lines, nil, q.StandardInput()) {
		if err != nil {
			return err
		}
		for _, path := range list {
			if len(path) == 0 {
				continue
			}
			none = false
			if err := q.query(path); err != nil {
				return err
			}
		}
		if err := q.Flush(); err != nil {
			return err
		}
	}
	if none {
		return errors.New("no store paths were read from standard input; check the command that they come from")
	}
	return nil
}

// query queries a path and prints the answer.
func (q *nixQuery) query(path []byte) error {
	d, err := nixbloom.DigestOf(string(path))
	if err != nil {
		return fmt.Errorf("%.80q is not a store path; want /nix/store/HASH-NAME, HASH.narinfo or HASH", path)
	}
	has := q.f.Has(d)
	q.Select(has)
	switch {
	case q.Quiet:
		return nil
	case q.JSON:
		return cli.JSONLine(q.Out, struct {
			Path string `json:"path"`
			Has  bool   `json:"has"`
		}{string(path), has})
	case has:
		_, err = fmt.Fprintf(q.Out, "%s\n", keys.Line(path))
	}
	return err
}

func nixInfoCommand() *cobra.Command {
	return cli.Verb(&cobra.Command{
		Use:     "info FILE",
		Short:   "describe a file NixBloom",
		Long:    "Print the size of a file NixBloom, its estimated number of store paths, and its estimated false-positive rate.",
		Example: "  umbel-nix info bloom-filter\n  curl -s https://cache.example.org/bloom-filter | umbel-nix info -",
		Args:    cli.Arguments(1, 1),
	}, nixInfo)
}

func nixInfo(_ context.Context, streams *cli.Streams, args []string) error {
	f, n, err := openNixBloom(streams, args[0])
	if err != nil {
		return err
	}
	s := filters.Summarize(args[0], f)
	return streams.Answer(s, func(w io.Writer) error {
		return s.Write(w, fmt.Sprintf("NixBloom version 1, %v bytes", quantity.Count(n)))
	})
}

// openNixBloom reads a file NixBloom, or standard input if its name is "-", and returns its length as well. It checks the
// header before it reads the rest.
func openNixBloom(streams *cli.Streams, name string) (*nixbloom.Filter, int, error) {
	in := streams.In
	if name != "-" {
		var err error
		if in, err = os.Open(name); err != nil {
			return nil, 0, err
		}
		defer in.Close()
	}
	f, n, err := foreignfile.ReadNixBloom(in, math.MaxUint64)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	return f, n, nil
}
