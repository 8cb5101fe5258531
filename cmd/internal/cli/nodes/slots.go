package nodes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
)

const slotsHelp = `Print the slot map of a node: which node has which filters (see docs/scale.md).

With --map-nodes it prints a map for these nodes, each with the same number of slots. If MAP is given, too, as few slots as possible
change their node.

With MAP and NEW it lists the filters that are on other nodes than NEW gives them to. With --move they are moved, and the nodes
get NEW: a filter that moves refuses changes (TRYAGAIN) until its copy has been compared, and all queries are answered meanwhile. If
a move ends early, no change is lost; repeat it. New nodes must run, with NEW as their map, before a move, and clients get their
addresses after it. The user must be an administrator of all nodes, and the maps must have their URLs.`

const slotsExample = `  umbel node slots --map-nodes a:6380=http://a:8780,b:6380=http://b:8780 > slots
  umbel node slots slots --map-nodes a:6380=http://a:8780,b:6380=http://b:8780,c:6380=http://c:8780 > new
  umbel node slots slots new
  umbel node slots slots new --move --token-file token`

// slotsOptions are the flags of umbel node slots.
type slotsOptions struct {
	nodes []string
	move  bool
}

func slotsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "slots [MAP [NEW]]", Short: "print or plan a slot map, and move filters to a new one", Long: slotsHelp, Example: slotsExample,
		Args: cli.Arguments(0, 2),
	}
	o := new(slotsOptions)
	cmd.Flags().StringSliceVar(&o.nodes, "map-nodes", nil, "comma-separated `ADDRESSES` of nodes as host:port=URL, to print a map for them")
	cmd.Flags().BoolVar(&o.move, "move", false, "move filters to the nodes to which NEW gives them, and put it in force")
	return onNode(cmd, o.run)
}

func (o *slotsOptions) run(ctx context.Context, streams *cli.Streams, n *remote.Client, args []string) error {
	var maps []*slots.Map
	for _, file := range args {
		m, err := readMap(file)
		if err != nil {
			return err
		}
		maps = append(maps, m)
	}
	switch {
	case o.move && len(maps) < 2:
		return cli.UsageError(fmt.Errorf("--move needs two slot maps: the one in force, and the new one"))
	case len(maps) == 2 && o.nodes != nil:
		return cli.UsageError(fmt.Errorf("--map-nodes makes a new map; give at most one"))
	case len(maps) == 2:
		return o.compare(ctx, streams, n.NewMover(maps[0], maps[1]))
	case o.nodes != nil:
		return o.plan(streams, maps)
	case len(maps) == 1:
		return cli.UsageError(fmt.Errorf("give a new slot map, too, or the nodes of one with --map-nodes"))
	}
	m, err := n.SlotMap(ctx)
	if err == nil && m == nil {
		err = fmt.Errorf("%s has no slot map; start it with --slot-map", n.Base.Host)
	}
	if err != nil {
		return err
	}
	return printMap(streams, m)
}

// readMap reads a slot map from a file.
func readMap(file string) (*slots.Map, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m, err := slots.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// plan prints a map for the nodes.
func (o *slotsOptions) plan(streams *cli.Streams, maps []*slots.Map) error {
	var shards []slots.Shard
	for _, node := range o.nodes {
		addr, url, _ := strings.Cut(node, "=")
		shards = append(shards, slots.Shard{Nodes: []slots.Node{{Addr: addr, URL: url}}})
	}
	if len(shards) > slots.Count {
		return cli.UsageError(fmt.Errorf("%d nodes are more than there are slots", len(shards)))
	}
	var old *slots.Map
	if len(maps) > 0 {
		old = maps[0]
	}
	m, err := slots.Parse(bytes.NewReader(slots.Plan(shards, old).Text())) // checks the addresses
	if err != nil {
		return cli.UsageError(err)
	}
	return printMap(streams, m)
}

func printMap(streams *cli.Streams, m *slots.Map) error {
	return streams.Answer(map[string]string{"map": string(m.Text())}, func(w io.Writer) error {
		_, err := w.Write(m.Text())
		return err
	})
}

// misplaced is a filter that moves, in JSON.
type misplaced struct {
	Name  string `json:"name"`
	Bytes uint64 `json:"bytes"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// compare lists the filters that move, and moves them if that was requested.
func (o *slotsOptions) compare(ctx context.Context, streams *cli.Streams, m *remote.Mover) error {
	find := m.Find
	if o.move {
		m.Copied = func(f remote.Misplaced) {
			streams.Inform("%s", cli.NameWords(f.Name)+": copied from "+f.From+" to "+f.To)
		}
		find = m.Move
	}
	list, err := find(ctx)
	if err != nil {
		return err
	}
	all := make([]misplaced, len(list))
	t := table.New("Filter", " Size", "From", "To")
	for i, f := range list {
		all[i] = misplaced{f.Name, f.Bytes, f.From, f.To}
		t.Row(cli.NameWords(f.Name), quantity.Size(f.Bytes).String(), f.From, f.To)
	}
	return cli.AnswerAll(streams, all, func(w io.Writer) error {
		if len(all) == 0 {
			return nil
		}
		_, err := t.WriteTo(w)
		return err
	})
}
