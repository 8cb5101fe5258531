package nodes

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

const nodeHelp = `Work on a node: the filters that it keeps, and the node itself. Verbs for filters in files, such as
umbel add and umbel info, work on those of a node with --addr.`

const nodeExample = `  umbel node list
  umbel node get users -o users.umb --addr https://filters.example:8780 --token-file token
  umbel node status --check`

// NodeCommand is umbel node.
func NodeCommand() *cobra.Command {
	return cli.Noun("node", "list, fetch and upload the filters of a node, and manage it", nodeHelp, nodeExample,
		listCommand(), getCommand(), putCommand(), deleteCommand(),
		slotsCommand(), statusCommand(), configCommand(), snapshotCommand(), acknowledgeCommand())
}

// onNode makes cmd a verb that calls run with a node: that of --addr, or the one on this machine.
func onNode(cmd *cobra.Command, run func(ctx context.Context, streams *cli.Streams, n *remote.Client, args []string) error) *cobra.Command {
	cmd.Long += "\n\nWithout --addr it uses the node at " + cli.LocalNode + "."
	if cmd.Args == nil {
		cmd.Args = cli.NoArguments
	}
	var node cli.Node
	cli.AddAddrFlags(cmd, &node)
	return cli.Verb(cmd, func(ctx context.Context, streams *cli.Streams, args []string) error {
		if node.Addr == "" {
			ctx = streams.Interruptible(ctx)
		}
		n, err := node.DialOrLocal(streams)
		if err != nil {
			return err
		}
		return run(ctx, streams, n, args)
	})
}

// done prints what a verb has found or done, unless --quiet: a text, or a word as JSON.
func done(streams *cli.Streams, status, text string) error {
	return printed(streams, map[string]string{"status": status}, text)
}

// printed prints a result, unless --quiet: a line of text, or v as JSON.
func printed(streams *cli.Streams, v any, text string) error {
	if streams.Quiet {
		return nil
	}
	return streams.Answer(v, func(w io.Writer) error {
		_, err := io.WriteString(w, text+"\n")
		return err
	})
}
