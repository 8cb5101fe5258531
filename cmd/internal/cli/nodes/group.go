package nodes

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

const groupHelp = `Work on a group of nodes, whose members read one log and serve the same filters: see umbel serve --log and docs/scale.md.
umbel node status prints the state of a member.`

const groupExample = `  umbel group leave --addr filters-1.example:8780 --token-file token
  umbel group take-over --addr filters-2.example:8780 --token-file token`

// GroupCommand is umbel group.
func GroupCommand() *cobra.Command {
	return cli.Noun("group", "manage a group of nodes that serve the same filters", groupHelp, groupExample,
		leaveCommand(), takeOverCommand())
}

func leaveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "leave", Short: "make the leader of a group follow",
		Long: "Make the leader of a group follow, for example before its machine is stopped. It writes what it has accepted, and another\n" +
			"member leads at once. A node that ends by SIGTERM does the same.",
		Example: "  umbel group leave --addr filters-1.example:8780 --token-file token",
	}
	return onNode(cmd, func(ctx context.Context, streams *cli.Streams, n *remote.Client, _ []string) error {
		if err := n.Group(ctx, "leave"); err != nil {
			return err
		}
		return done(streams, "accepted", "the node starts again as a follower")
	})
}

const takeOverHelp = `Make a member lead its group, although another one leads: that one leaves, and this one claims the log at once. If the leader cannot be
reached, the member leads when the log is silent. The credentials are sent to both.`

func takeOverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "take-over", Short: "make a member lead its group", Long: takeOverHelp, Args: cli.NoArguments,
		Example: "  umbel group take-over --addr filters-2.example:8780 --token-file token",
	}
	var node cli.Node
	cli.AddAddrFlags(cmd, &node)
	return cli.Verb(cmd, func(ctx context.Context, streams *cli.Streams, _ []string) error {
		n, err := node.DialOrLocal(streams)
		if err != nil {
			return err
		}
		s, err := n.Status(ctx)
		if err != nil {
			return err
		}
		if err := n.Group(ctx, "take-over"); err != nil {
			return err
		}
		if s.Group != nil && s.Group.LeaderHTTP != "" {
			node.Addr = s.Group.LeaderHTTP
			leader, err := node.DialOrLocal(streams)
			if err == nil {
				err = leader.Group(ctx, "leave")
			}
			if err != nil {
				streams.Warn("the leader %s does not leave: %v", s.Group.LeaderHTTP, err)
			}
		}
		return done(streams, "accepted", "the node claims the log")
	})
}

// ageText describes what a member may lack.
func ageText(seconds float64) string {
	if seconds < 0 {
		return "it has not seen the end of the log since it started"
	}
	return "changes of the last " + time.Duration(seconds*float64(time.Second)).Round(time.Millisecond).String() + " may be missing"
}

// groupRows describes the state of a member in lines.
func groupRows(g api.Group) [][2]string {
	role := g.Role
	switch {
	case role == api.RoleFollower && g.Leader != "":
		role += " of " + g.Leader
	case role == api.RoleFollower:
		role += "; the group has no leader now"
	}
	rows := [][2]string{
		{"group", role},
		{"log", fmt.Sprintf("entry %d, batch %d, epoch %d", g.Entry, g.Batch, g.Epoch)},
		{"age", ageText(g.AgeSeconds)},
	}
	if g.Problem != "" {
		rows = append(rows, [2]string{"problem", cli.Paint(color.Red, g.Problem)})
	}
	if g.SnapshotFailed != "" {
		rows = append(rows, [2]string{"problem", cli.Paint(color.Red, "the last snapshot of the group failed: "+g.SnapshotFailed)})
	}
	return rows
}
