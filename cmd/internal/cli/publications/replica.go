package publications

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
)

const replicaHelp = `Follow publications (umbel publish) and answer queries from them, as filters of a node that clients can't change
(-READONLY): to Redis clients (--resp, --unix: BF.EXISTS, BF.MEXISTS, BF.INFO, UM.HAS, UM.INFO and other queries) and over
HTTP (--http: the paths of umbel serve), both on 127.0.0.1 unless addresses are given. SOURCE is the
URL of a publication, or its directory; NAME=SOURCE names its filter here. The public keys are in the
order of the sources. Nothing is used unless it is signed with the public key, complete and valid.

Settings can also be in a file (--config) or in the environment, as for umbel serve; --subscriptions has the
publications then. See docs/share.md.`

const replicaReference = `--stale states what queries return while a version is out of date, because its head has expired:
error is an error (-STALE, or status 503), maybe is that every key may be present, and last is the
answer of the last version, in which keys that were added since are missing. /readyz succeeds while all
versions are exact. SIGTERM and ^C end the replica after it has answered.`

const replicaExample = `  umbel replica https://example.org/words --public-key words.pub --stale error
  umbel replica blocked=https://example.org/blocked --public-key blocked.pub --stale maybe --unix /run/umbel/redis.sock
  umbel replica --config peers.yaml --stale last --cache /var/cache/umbel`

// ReplicaCommand is umbel replica.
func ReplicaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replica [NAME=]SOURCE... --public-key KEY... --stale CHOICE", Short: "answer queries from published filters",
		Long: replicaHelp, Example: replicaExample, Annotations: cli.Reference(replicaReference),
		Args: cli.Arguments(0, -1), DisableFlagsInUseLine: true,
	}
	o := &replicaOptions{flags: cmd.Flags()}
	o.add(cmd.Flags())
	node.ReplicaFlags(cmd.Flags())
	cli.AddCredentialFlags(cmd, &o.node)
	return cli.Verb(cmd, o.run)
}

// replicaOptions are the flags of umbel replica. The settings are in flags, a file and the environment.
type replicaOptions struct {
	subscriptionFlags
	node  cli.Node
	flags *pflag.FlagSet
}

func (o *replicaOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	list, err := o.list(args)
	if err != nil {
		return cli.UsageError(err)
	}
	load := func() (node.Config, error) {
		c, _, err := node.LoadReplicaConfig(o.flags)
		if streams.JSON && !o.flags.Changed("log-format") {
			c.LogFormat = "json"
		}
		return c, err
	}
	c, err := load()
	if err != nil {
		return err
	}
	if c.Following, err = openSources(o.node, slices.Concat(c.Subscriptions, list), cmp.Or(c.Every, replica.DefaultPeriod)); err != nil {
		return err
	}
	return node.Run(ctx, streams.Err, c, load)
}
