package nodes

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

const listHelp = `List the filters on a node that you may read, sorted by name; with PREFIX only those whose
names begin with it.

Planned is the false-positive rate that a filter was made for, and the number of keys. A filter is
overfull if its rate, when the node last measured it, was more than twice that rate.

The keys of a window expire after a time, which is printed as by umbel info. They stay longer if the time of
the filter is behind the clock, because the node refuses changes or is a replica.

Queries of an incomplete filter return true for every key. It is being loaded, or data of it was
lost; a filter that lost data must be deleted and created again.

With --json one object is printed per filter; a name that isn't UTF-8 is in base64.`

const listExample = `  umbel node list
  umbel node list users: --addr https://filters.example:8780 --token-file token`

// listedFilter is one filter in JSON.
type listedFilter struct {
	Name       string `json:"name"`
	NameBase64 string `json:"nameBase64,omitempty"` // if it isn't UTF-8
	Kind       string `json:"kind"`
	Bytes      uint64 `json:"bytes"`
	// Planned is compared with the last measurement of the node.
	Planned    *api.Planned `json:"planned,omitempty"`
	Expires    *time.Time   `json:"expires"` // null for never
	Incomplete string       `json:"incomplete,omitempty"`
	Window     *api.Window  `json:"window,omitempty"` // when keys expire
}

func listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [PREFIX]", Short: "list the filters on a node", Long: listHelp, Example: listExample,
		Aliases: []string{"ls"},
		Args:    cli.Arguments(0, 1),
	}
	return onNode(cmd, list)
}

// list prints the filters of a node whose names begin with prefix.
func list(ctx context.Context, streams *cli.Streams, n *remote.Client, args []string) error {
	var all []remote.Brief
	for b, err := range n.List(ctx, strings.Join(args, "")) {
		if err != nil {
			return err
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b remote.Brief) int { return cmp.Compare(a.Name, b.Name) })
	return printList(streams, all)
}

func printList(streams *cli.Streams, all []remote.Brief) error {
	if !streams.JSON {
		return writeList(streams.Out, all)
	}
	for _, b := range all {
		l := listedFilter{Name: b.Name, Kind: b.Kind, Bytes: b.Bytes, Planned: b.Planned, Expires: b.Expires, Incomplete: b.Incomplete, Window: b.Window}
		if !utf8.ValidString(b.Name) {
			l.Name, l.NameBase64 = "", base64.StdEncoding.EncodeToString([]byte(b.Name))
		}
		if err := cli.JSONLine(streams.Out, l); err != nil {
			return err
		}
	}
	return nil
}

func writeList(w io.Writer, all []remote.Brief) error {
	if len(all) == 0 {
		return nil
	}
	header := []string{"Filter", "Kind", " Size", "Planned", "Expires", "", ""}
	if slices.ContainsFunc(all, func(b remote.Brief) bool { return b.Window != nil }) {
		header[5] = "Keys expire"
	}
	if slices.ContainsFunc(all, func(b remote.Brief) bool { return b.Incomplete != "" }) {
		header[6] = "Incomplete"
	}
	t := table.New(header...)
	for _, b := range all {
		planned, expires := "", ""
		if p := b.Planned; p != nil {
			planned = filters.PlannedPainted(*p)
		}
		if b.Expires != nil {
			expires = b.Expires.UTC().Format(time.RFC3339)
		}
		t.Row(cli.NameWords(b.Name), b.Kind, quantity.Size(b.Bytes).String(), planned, expires, keysExpire(b.Window), cli.Paint(color.Red, b.Incomplete))
	}
	_, err := t.WriteTo(w)
	return err
}

// keysExpire describes when the keys of a filter expire, "" if they do not.
func keysExpire(w *api.Window) string {
	span, ok := filters.NodeSpan(w)
	if !ok {
		return ""
	}
	text := span.After()
	if span.Still() != "" {
		text += " of umbel edit advance"
	}
	if span.Behind > 0 {
		return cli.Paint(color.Red, fmt.Sprintf("%s; %v behind", text, span.Behind.Round(time.Second)))
	} else if span.Ahead > 0 {
		return cli.Paint(color.Red, fmt.Sprintf("%s; %v ahead", text, span.Ahead.Round(time.Second)))
	}
	return text
}
