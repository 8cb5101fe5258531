package publications

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
)

const subscribeHelp = `Follow publications (umbel publish) and answer queries from them, or copy one to a file. SOURCE is the
URL of a publication, or its directory; NAME=SOURCE names its filter here. The public keys are in the
order of the sources. Nothing is used unless it is signed with the public key, complete and valid.

With --stale, publications are served as filters of a replica: to Redis clients (--resp, --unix: BF.EXISTS,
BF.MEXISTS, BF.INFO, UM.HAS, UM.INFO and other queries) and over HTTP (--http: the paths of umbel
serve), both on 127.0.0.1 unless addresses are given. A filter has the name of its publication unless
it is named. Clients can't change filters (-READONLY). Versions are kept in the directory --cache, so that
a restart answers at once and fetches only what has changed. Settings can also be in a file (--config) or in
the environment, as for umbel serve; --subscriptions has the publications then.

--stale states what queries return while a version is out of date, because its head has expired:
error is an error (-STALE, or status 503), maybe is that every key may be present, and last is the
answer of the last version, in which keys that were added since are missing. /readyz succeeds while all
versions are exact. SIGTERM and ^C end the replica after it has answered.

With -o the current version is written to a file. With --cache the version is kept in a directory, and
the next run fetches what has changed since then. A cache also refuses heads that are older than the
last one. With --follow new versions are fetched and written as they appear, until ^C. A version whose
head has expired stays in the file, with a warning. If the file can't be written, that is tried again;
only the first write ends the command. So does a head that the key did not sign, before the first version.
--log-format makes a log of the messages on standard error, with an event each; so does --json.

If a publication has folds (umbel publish --folds), --fpr, --start-bytes, --bytes-per-second and --memory
select among them: the smallest one with the rate that suffices, within the limits. It is used as it is,
folded. What was saved pays for a larger one.

With --sparse a Bloom filter with k = 1 is kept, or written, as the equivalent sparse filter: the list of its
nonzero cells. It takes about as many bytes as the filter has when it is packed, and queries take longer.
Other filters stay as they are.

A publication of a node (umbel serve) is at http://NODE/v1/publications/FILTER. If it is not public, the
credentials are those of the other verbs for nodes; those of the environment are sent to such URLs only.

Exit codes of -o: 3 the version is out of date; 4 it is not what the key signed, is older than one that
was accepted, or is damaged; 5 the source can't be read; 2 other errors. With --follow: 0 ended by a signal;
130 by ^C, or 143 by SIGTERM, before FILE was written; 4 before then what it reads is not what the key signed.`

const subscribeExample = `  umbel subscribe https://example.org/words --public-key words.pub --stale error
  umbel subscribe blocked=https://example.org/blocked --public-key blocked.pub --stale maybe --unix /run/umbel/redis.sock
  umbel subscribe --config peers.yaml --stale last --cache /var/cache/umbel
  umbel subscribe https://example.org/words --public-key words.pub -o words.umb
  umbel subscribe http://node:8780/v1/publications/words --public-key words.pub --token-file token -o words.umb
  umbel subscribe public --public-key words.pub --cache cache -o words.umb --follow 1m
  umbel subscribe public --public-key peer.pub --sparse -o peer.umb`

func SubscribeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "subscribe [NAME=]SOURCE... --public-key KEY... --stale CHOICE | SOURCE --public-key KEY -o FILE",
		Short:   "answer queries from published filters, or copy one",
		Long:    subscribeHelp,
		Example: subscribeExample,
		Args:    cli.Arguments(0, -1),
	}
	cmd.DisableFlagsInUseLine = true
	flags := cmd.Flags()
	keys := flags.StringArray("public-key", nil, "public `KEY` of the publication, or a file that contains it; once for each source")
	output := cli.AddOutputFlag(cmd, "`FILE` to write, instead of serving the filter", cli.OutputFlag{})
	node.ReplicaFlags(flags)
	positions := flags.Bool("sparse", false, "keep Bloom filters with k = 1 as sparse filters")
	budget := budgetFlags(flags)
	cli.AddCredentialFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f := flags.Lookup("follow"); f.Changed && f.Value.String() == "0s" {
			return cli.UsageError(cmd, errors.New("--follow is 0s, want a period such as 10s"))
		}
		specs, err := subscriptionsOf(args, *keys)
		if err != nil {
			return cli.UsageError(cmd, err)
		}
		for i := range specs {
			specs[i].Budget, specs[i].Sparse = *budget, *positions
		}
		if *output == "" {
			return serveReplica(cmd, specs)
		}
		if others := replicaOnly(flags); len(others) > 0 {
			return cli.UsageError(cmd, fmt.Errorf("-o writes a file and serves nothing: it can't be combined with %s", strings.Join(others, " and ")))
		}
		if len(specs) != 1 {
			return cli.UsageError(cmd, fmt.Errorf("%d sources are given; -o writes one", len(specs)))
		}
		return copyPublication(cmd, specs[0], *output)
	}
	return cmd
}

// budgetFlags adds the flags of the budget of each publication of a command line.
func budgetFlags(flags *pflag.FlagSet) *replica.Budget {
	b := new(replica.Budget)
	flags.VarP((*quantity.Rate)(&b.FPR), "fpr", "p", "false-positive `RATE` that suffices")
	flags.Var((*quantity.Size)(&b.StartBytes), "start-bytes", "`SIZE` of the first version to fetch at most; a larger one follows")
	flags.Var((*quantity.Size)(&b.BytesPerSecond), "bytes-per-second", "`SIZE` to receive per second at most, on average after the first version")
	flags.Var((*quantity.Size)(&b.Memory), "memory", "`SIZE` of the filter's cells at most")
	for _, name := range []string{"fpr", "start-bytes", "bytes-per-second", "memory"} {
		flags.Lookup(name).DefValue = ""
	}
	return b
}

// subscriptionsOf returns the publications of a command line.
func subscriptionsOf(sources, keys []string) (replica.List, error) {
	if len(sources) != len(keys) {
		return nil, fmt.Errorf("%d sources and %d public keys are given; give one --public-key for each source", len(sources), len(keys))
	}
	var list replica.List
	for i, arg := range sources {
		filter, source := replica.ParseSource(arg)
		list = append(list, replica.Spec{Filter: filter, Source: source, PublicKey: keys[i]})
	}
	return list, list.Check()
}

// replicaOnly returns the flags that were given and that only a replica has: others serve -o, too.
func replicaOnly(flags *pflag.FlagSet) (names []string) {
	settings := pflag.NewFlagSet("", pflag.ContinueOnError)
	node.ReplicaFlags(settings)
	flags.Visit(func(f *pflag.Flag) {
		if settings.Lookup(f.Name) != nil && !slices.Contains([]string{"cache", "follow", "log-format"}, f.Name) {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// serveReplica serves publications until a signal ends it.
func serveReplica(cmd *cobra.Command, specs replica.List) error {
	load := func() (node.Config, error) {
		c, _, err := node.LoadReplicaConfig(cmd.Flags())
		if cli.WantsJSON(cmd) && !cmd.Flags().Changed("log-format") {
			c.LogFormat = "json"
		}
		return c, err
	}
	c, err := load()
	if err != nil {
		return err
	}
	if c.Following, err = openSources(cmd, slices.Concat(c.Subscriptions, specs), c); err != nil {
		return err
	}
	return node.Run(cmd.Context(), c, load)
}

// openSources opens the sources of publications.
func openSources(cmd *cobra.Command, list replica.List, c node.Config) ([]replica.Publication, error) {
	var all []replica.Publication
	for _, spec := range list {
		verifier, err := cli.ParsePublicKey(spec.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("subscription of %s: public-key: %w", spec.Title(), err)
		}
		source, err := cli.SourceOf(cmd, spec.Source, cmp.Or(c.Follow, replica.DefaultPeriod))
		if err != nil {
			return nil, fmt.Errorf("subscription of %s: source: %w", spec.Title(), err)
		}
		all = append(all, replica.Publication{Spec: spec, Reader: source, Verifier: verifier})
	}
	return all, nil
}
