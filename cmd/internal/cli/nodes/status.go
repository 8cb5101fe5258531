package nodes

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

// nodeCommand returns a command without arguments that works on a node only.
func nodeCommand(cmd *cobra.Command, run func(cmd *cobra.Command, n *remote.Client) error) *cobra.Command {
	cmd.Args = cli.NoArguments
	cmd.Long += "\nWithout --addr it uses the node at " + cli.LocalNode + "."
	cli.AddAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		n, err := cli.DialOrLocal(cmd)
		if err != nil {
			return err
		}
		return run(cmd, n)
	}
	return cmd
}

// done prints what a command has found or done, unless --quiet: a text, or a word as JSON.
func done(cmd *cobra.Command, status, text string) error {
	if cli.IsQuiet(cmd) {
		return nil
	}
	return cli.Answer(cmd, map[string]string{"status": status}, func(w io.Writer) error {
		_, err := io.WriteString(w, text+"\n")
		return err
	})
}

func HealthCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health",
		Short: "check whether a node works",
		Long: `Ask a node whether it answers queries. With --writable, also whether it accepts changes. The
exit code is 0 if it does, otherwise 2, so containers and scripts can use it as a check.`,
		Example: "  umbel health\n  umbel health --writable --timeout 2s --addr filters.example:8780",
	}
	writable := cmd.Flags().Bool("writable", false, "check that changes are accepted, too")
	var timeout time.Duration
	quantity.DurationVar(cmd.Flags(), &timeout, "timeout", 5*time.Second, "time limit")
	return nodeCommand(cmd, func(cmd *cobra.Command, n *remote.Client) error {
		ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("no answer within %v; give it longer with --timeout", timeout))
		defer cancel()
		if err := n.Ready(ctx, *writable); err != nil {
			return err
		}
		word := "ready"
		if *writable {
			word = "writable"
		}
		return done(cmd, word, word)
	})
}

func StatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "print the state of a node",
		Long: `Print the state of a node: its filters, memory, log and snapshots, and why it refuses changes
if it does.`,
		Example: "  umbel status --addr filters.example:8780 --token-file token",
	}
	return nodeCommand(cmd, func(cmd *cobra.Command, n *remote.Client) error {
		s, err := n.Status(cmd.Context())
		if err != nil {
			return err
		}
		return cli.Answer(cmd, s, func(w io.Writer) error { return writeStatus(w, s) })
	})
}

func SnapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "make a node take a snapshot",
		Long: `Make a node take a snapshot, which shortens its next start and truncates its log, and wait for
it.`,
		Example: "  umbel snapshot --addr filters.example:8780",
	}
	return nodeCommand(cmd, func(cmd *cobra.Command, n *remote.Client) error {
		stop := cli.Note(cmd, "taking a snapshot")
		err := n.Snapshot(cmd.Context())
		stop()
		if err != nil {
			return err
		}
		return done(cmd, "done", "snapshot taken")
	})
}

func AcknowledgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "acknowledge",
		Short: "acknowledge that a node lost filters",
		Long: `Acknowledge a loss of data after which names of filters may be missing: see umbel status. Until
then, commands with names that have no filter fail, and empty filters that are made under such
names are incomplete. First find out which filters are missing, then acknowledge, then create them.
Filters that are incomplete remain so until they are deleted and created again.`,
		Example: "  umbel acknowledge --addr filters.example:8780 --token-file token",
	}
	return nodeCommand(cmd, func(cmd *cobra.Command, n *remote.Client) error {
		missing, err := n.Acknowledge(cmd.Context())
		if err != nil {
			return err
		}
		if !missing {
			return done(cmd, "nothing", "no names were missing")
		}
		return done(cmd, "done", "loss acknowledged; names without a filter are absent again")
	})
}

// missingText describes losses after which names may be missing, in one line.
func missingText(m api.Missing) string {
	text := "names of filters may be missing since " + m.Since.UTC().Format(time.RFC3339)
	if m.Batches > 0 {
		text += fmt.Sprintf(", %v batches lost", quantity.Count(m.Batches))
	}
	return text + "; unknown names return errors until umbel acknowledge"
}

func writeStatus(w io.Writer, s api.Status) error {
	writes, snapshot := "accepted", "none yet"
	if s.Problem != "" {
		writes = cli.Paint(color.Red, "refused: "+s.Problem)
	} else if len(s.Growth) > 0 {
		writes = cli.Paint(color.Red, "accepted, except those for which a filter must become larger")
	}
	if s.LastSnapshot != nil {
		snapshot = s.LastSnapshot.UTC().Format(time.RFC3339)
	}
	switch {
	case s.SnapshotFailed != "":
		snapshot += cli.Paint(color.Red, "; the last attempt failed: "+s.SnapshotFailed)
	case s.Snapshotting:
		snapshot += "; one is being taken"
	}
	filters := quantity.Count(uint64(s.Filters)).String()
	if s.Incomplete > 0 {
		filters += fmt.Sprintf("; %v lost data and return true for every key: umbel list marks them", quantity.Count(uint64(s.Incomplete)))
	}
	if s.Faulty > 0 {
		filters += cli.Paint(color.Red, fmt.Sprintf("; %v cannot be read because of a fault in umbel: see the log of the node", quantity.Count(uint64(s.Faulty))))
	}
	limit := ""
	if s.MaxBytes > 0 {
		limit = " of " + quantity.Size(s.MaxBytes).String()
	}
	rows := [][2]string{
		{"version", s.Version},
		{"uptime", time.Duration(s.Uptime * float64(time.Second)).Round(time.Second).String()},
		{"changes", writes},
	}
	for _, g := range s.Growth {
		rows = append(rows, [2]string{"growth", cli.Paint(color.Red, growthText(g))})
	}
	rows = append(rows, [][2]string{
		{"filters", filters},
		{"memory", quantity.Size(s.Bytes).String() + limit},
		{"clients", quantity.Count(uint64(s.Clients)).String() + ", " + quantity.Size(s.ClientBytes).String()},
	}...)
	if s.Durability != "" { // a node with a data directory
		rows = append(rows, [][2]string{
			{"durability", s.Durability},
			{"disk", diskText(s)},
			{"snapshot", snapshot + "; the next one may need " + quantity.Size(s.SnapshotNeed).String()},
		}...)
	}
	if s.Missing != nil {
		rows = append(rows, [2]string{"missing", missingText(*s.Missing)})
	}
	for _, p := range s.Publications {
		rows = append(rows, [2]string{"publication", publicationText(p)})
	}
	for _, p := range s.Subscriptions {
		rows = append(rows, [2]string{"follows", subscriptionText(p)})
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, "%-11s %s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return nil
}

// growthText describes refused changes in one line.
func growthText(g api.Growth) string {
	text := fmt.Sprintf("refused since %s at max-%s, %v changes, for example of %q: %s",
		g.Since.UTC().Format(time.RFC3339), g.Reason, quantity.Count(g.Refused), g.Filter, g.Error)
	if g.Needed > 0 {
		text += fmt.Sprintf("; raise max-%s to at least %v, or delete filters", g.Reason, quantity.Size(g.Needed).RoundUp())
	}
	return text
}

// diskText describes the files of a node in one line.
func diskText(s api.Status) string {
	text := quantity.Size(s.DiskBytes).String()
	if s.MaxDisk > 0 {
		text += " of " + quantity.Size(s.MaxDisk).String()
	}
	if s.LeftBytes != nil {
		text += ", " + quantity.Size(*s.LeftBytes).String() + " left"
	}
	if s.NeededMaxDisk > 0 {
		text += ", a max-disk of at least " + quantity.Size(s.NeededMaxDisk).RoundUp().String() + " is needed"
	} else if s.MissingBytes > 0 {
		text += ", " + quantity.Size(s.MissingBytes).RoundUp().String() + " must be freed"
	}
	return text + ", " + quantity.Size(s.PendingBytes).String() + " to be written"
}

// publicationText describes a publication in one line.
func publicationText(p api.Publication) string {
	text := p.Filter + ": " + p.State
	if p.Version > 0 {
		age := time.Duration(p.AgeSeconds * float64(time.Second)).Round(time.Second)
		text += fmt.Sprintf(", version %v, %v old", quantity.Count(p.Version), age)
	}
	if p.DiskBytes > 0 {
		text += ", " + quantity.Size(p.DiskBytes).String()
	}
	if p.Error != "" {
		text += ", " + p.Error
	}
	return text + ", key " + p.PublicKey
}

// subscriptionText describes a publication that a replica follows in one line.
func subscriptionText(p api.Subscription) string {
	text := p.Filter + ": " + p.State
	if p.Version > 0 {
		age := time.Duration(p.AgeSeconds * float64(time.Second)).Round(time.Second)
		text += fmt.Sprintf(", version %v, %v old", quantity.Count(p.Version), age)
	}
	if p.Error != "" {
		text += ", " + p.Error
	}
	return text + ", from " + p.Source
}
