package nodes

import (
	"cmp"
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

const statusHelp = `Print the state of a node: its filters, memory, log and snapshots, and why it refuses changes if it does.

With --check it only checks that the node answers queries, and with --writable that it accepts changes, too. The
exit code is 0 if it does, otherwise 2, so that containers and scripts can use it. --timeout is then the time limit of the
check, 5s by default.`

// checkTimeout is the time limit of umbel node status --check by default.
const checkTimeout = 5 * time.Second

func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "print the state of a node, or check whether it works", Long: statusHelp,
		Example: "  umbel node status --addr filters.example:8780 --token-file token\n" +
			"  umbel node status --check\n  umbel node status --check --writable --timeout 2s --addr filters.example:8780",
	}
	o := new(statusOptions)
	cmd.Flags().BoolVar(&o.check, "check", false, "only check that the node answers, and print one word")
	cmd.Flags().BoolVar(&o.writable, "writable", false, "with --check, check that changes are accepted, too")
	cli.Needs(cmd, "writable", "check", "--check")
	return onNode(cmd, o.run)
}

// statusOptions are the flags of umbel node status.
type statusOptions struct{ check, writable bool }

func (o *statusOptions) run(ctx context.Context, streams *cli.Streams, n *remote.Client, _ []string) error {
	if o.check {
		return checkNode(ctx, streams, n, o.writable)
	}
	s, err := n.Status(ctx)
	if err != nil {
		return err
	}
	return streams.Answer(s, func(w io.Writer) error { return writeStatus(w, s) })
}

// checkNode prints a word if a node answers queries and, with writable, accepts changes.
func checkNode(ctx context.Context, streams *cli.Streams, n *remote.Client, writable bool) error {
	limit := cmp.Or(n.Timeout, checkTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v; give it longer with --timeout", limit))
	defer cancel()
	if err := n.Ready(ctx, writable); err != nil {
		return err
	}
	word := "ready"
	if writable {
		word = "writable"
	}
	return done(streams, word, word)
}

func snapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "snapshot",
		Short:   "make a node take a snapshot",
		Long:    "Make a node take a snapshot, which shortens its next start and truncates its log, and wait for it.",
		Example: "  umbel node snapshot --addr filters.example:8780",
	}
	return onNode(cmd, func(ctx context.Context, streams *cli.Streams, n *remote.Client, _ []string) error {
		stop := streams.Note("taking a snapshot")
		err := n.Snapshot(ctx)
		stop()
		if err != nil {
			return err
		}
		return done(streams, "done", "snapshot taken")
	})
}

const acknowledgeHelp = `Acknowledge a loss of data after which names of filters may be missing: see umbel node status. Until
then, commands with names that have no filter fail, and empty filters that are made under such
names are incomplete. First find out which filters are missing, then acknowledge, then create them.
Filters that are incomplete remain so until they are deleted and created again.`

func acknowledgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "acknowledge", Short: "acknowledge that a node lost filters", Long: acknowledgeHelp,
		Example: "  umbel node acknowledge --addr filters.example:8780 --token-file token",
	}
	return onNode(cmd, func(ctx context.Context, streams *cli.Streams, n *remote.Client, _ []string) error {
		missing, err := n.Acknowledge(ctx)
		if err != nil {
			return err
		}
		if !missing {
			return done(streams, "nothing", "no names were missing")
		}
		return done(streams, "done", "loss acknowledged; names without a filter are absent again")
	})
}

// missingText describes losses after which names may be missing, in one line.
func missingText(m api.Missing) string {
	text := "names of filters may be missing since " + m.Since.UTC().Format(time.RFC3339)
	if m.Batches > 0 {
		text += fmt.Sprintf(", %v batches lost", quantity.Count(m.Batches))
	}
	return text + "; unknown names return errors until umbel node acknowledge"
}

func writeStatus(w io.Writer, s api.Status) error {
	rows := [][2]string{
		{"version", s.Version},
		{"uptime", seconds(s.Uptime)},
		{"changes", changesText(s)},
	}
	for _, g := range s.Growth {
		rows = append(rows, [2]string{"growth", cli.Paint(color.Red, growthText(g))})
	}
	limit := ""
	if s.MaxBytes > 0 {
		limit = " of " + quantity.Size(s.MaxBytes).String()
	}
	rows = append(rows, [][2]string{
		{"filters", filtersText(s)},
		{"memory", quantity.Size(s.Bytes).String() + limit},
		{"clients", quantity.Count(uint64(s.Clients)).String() + ", " + quantity.Size(s.ClientBytes).String()},
	}...)
	if s.Durability != "" { // a node with a data directory
		rows = append(rows, [][2]string{{"durability", s.Durability}, {"disk", diskText(s)}, {"snapshot", snapshotText(s)}}...)
	}
	if s.Missing != nil {
		rows = append(rows, [2]string{"missing", missingText(*s.Missing)})
	}
	if s.Group != nil {
		rows = append(rows, groupRows(*s.Group)...)
	}
	for _, p := range s.Publications {
		rows = append(rows, [2]string{"publication", publicationText(p)})
	}
	for _, p := range s.Subscriptions {
		rows = append(rows, [2]string{"follows", versionText(p.Filter, p.State, p.Version, p.AgeSeconds, 0, p.Error) + ", from " + p.Source})
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, "%-11s %s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return nil
}

// changesText describes whether a node accepts changes.
func changesText(s api.Status) string {
	if g := s.Group; g != nil && g.Role == api.RoleFollower && g.Leader != "" {
		return "sent to the leader of the group"
	}
	if s.Problem != "" {
		return cli.Paint(color.Red, "refused: "+s.Problem)
	}
	if len(s.Growth) > 0 {
		return cli.Paint(color.Red, "accepted, except those for which a filter must become larger")
	}
	return "accepted"
}

// filtersText describes the filters of a node in one line.
func filtersText(s api.Status) string {
	text := quantity.Count(uint64(s.Filters)).String()
	if s.Incomplete > 0 {
		text += fmt.Sprintf("; %v lost data and return true for every key: umbel node list marks them", quantity.Count(uint64(s.Incomplete)))
	}
	if s.Faulty > 0 {
		text += cli.Paint(color.Red, fmt.Sprintf("; %v cannot be read because of a fault in umbel: see the log of the node", quantity.Count(uint64(s.Faulty))))
	}
	return text
}

// snapshotText describes the snapshots of a node in one line.
func snapshotText(s api.Status) string {
	text := "none yet"
	if s.LastSnapshot != nil {
		text = s.LastSnapshot.UTC().Format(time.RFC3339)
	}
	switch {
	case s.SnapshotFailed != "":
		text += cli.Paint(color.Red, "; the last attempt failed: "+s.SnapshotFailed)
	case s.Snapshotting:
		text += "; one is being taken"
	}
	return text + "; the next one may need " + quantity.Size(s.SnapshotNeed).String()
}

// seconds formats a number of seconds.
func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
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
	return versionText(p.Filter, p.State, p.Version, p.AgeSeconds, p.DiskBytes, p.Error) + ", key " + p.PublicKey
}

// versionText describes the version of a filter that is published or followed. Zeros and "" are left out.
func versionText(filter, state string, version uint64, age float64, disk uint64, failure string) string {
	text := filter + ": " + state
	if version > 0 {
		text += fmt.Sprintf(", version %v, %v old", quantity.Count(version), seconds(age))
	}
	if disk > 0 {
		text += ", " + quantity.Size(disk).String()
	}
	if failure != "" {
		text += ", " + failure
	}
	return text
}
