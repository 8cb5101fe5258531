package nodes

import (
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
		statusCommand(), configCommand(), snapshotCommand(), acknowledgeCommand())
}

// onNode makes cmd a verb that calls run with a node: that of --addr, or the one on this machine.
func onNode(cmd *cobra.Command, run func(n *remote.Client, args []string) error) *cobra.Command {
	cmd.Long += "\n\nWithout --addr it uses the node at " + cli.LocalNode + "."
	if cmd.Args == nil {
		cmd.Args = cli.NoArguments
	}
	cli.AddAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := cli.DialOrLocal(cmd)
		if err != nil {
			return err
		}
		return run(n, args)
	}
	return cmd
}

// done prints what a verb has found or done, unless --quiet: a text, or a word as JSON.
func done(cmd *cobra.Command, status, text string) error {
	return printed(cmd, map[string]string{"status": status}, text)
}

// printed prints a result, unless --quiet: a line of text, or v as JSON.
func printed(cmd *cobra.Command, v any, text string) error {
	if cli.IsQuiet(cmd) {
		return nil
	}
	return cli.Answer(cmd, v, func(w io.Writer) error {
		_, err := io.WriteString(w, text+"\n")
		return err
	})
}
