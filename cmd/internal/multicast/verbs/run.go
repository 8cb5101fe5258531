package verbs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/tree"
)

const multicastRunHelp = `Forward packets over UDP. Without --node all nodes of the network run in this process, on
loopback. The command sends --packets from --sender to --receivers and prints the result;
the exit code is 1 if a receiver missed a packet.

With --node one node runs in this process, until ^C or for the time of --for; the other
nodes run elsewhere. Node number i listens at the address of --listen, with i added to its
port, or at its address in --hosts, a file with one line per node: its name and an address
with a port. The node delivers packets of the groups in --join, and ends after --until
deliveries. With --receivers it sends --packets to them, after the time of --after, and
then ends if it has no --join. All nodes need the same topology, key and epoch.`

const multicastRunReference = `UDP loses packets, and nothing is retransmitted. --in-flight limits the packets in flight if
all nodes run in this process; --packet-rate limits the packets per second. --loss and --delay
add deliberate faults to each link.

With --trace packets record the nodes that they pass, and the command prints the path of
the first packet to each receiver.`

func multicastRunCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "run --topology FILE (--sender NODE --receivers NODES | --node NODE)",
		Short:       "forward packets over UDP",
		Long:        multicastRunHelp,
		Annotations: cli.Reference(multicastRunReference),
		Example: `  umbel-multicast run --topology grid:5x4 --sender 0-0 --receivers 4-3,0-3 --packets 10000
  umbel-multicast run --topology line:3 --node '#2' --join 7 --until 10 &
  umbel-multicast run --topology line:3 --node '#1' &
  umbel-multicast run --topology line:3 --node '#0' --receivers '#2' --group 7 --packets 10`,
		Args: cli.NoArguments,

		DisableFlagsInUseLine: true,
	}
	r := new(packetRun)
	r.treeFlags.add(cmd)
	flags := cmd.Flags()
	flags.Uint32Var(&r.group, "group", 1, "`NUMBER` of the group")
	r.packets = 1000
	flags.Var(&r.packets, "packets", "`NUMBER` of packets to send")
	flags.IntVar(&r.payload, "payload", 64, "`BYTES` of each packet after its header, at least 8")
	flags.Float64Var(&r.pace.Rate, "packet-rate", 0, "largest number of `PACKETS` per second (default no limit)")
	flags.IntVar(&r.pace.Window, "in-flight", 64, "largest `NUMBER` of packets in flight; 0 means no limit")
	flags.Var(&r.loss, "loss", "`SHARE` of copies that each link drops (default none)")
	quantity.DurationVar(flags, &r.plane.Fault.Delay, "delay", 0, "`DURATION` for which copies wait before they are sent, such as 5ms")
	r.how.addWindow(cmd, "adds sequence numbers to packets")
	flags.BoolVar(&r.how.ordered, "only-sequenced", false, "routers drop packets without a sequence number; needs --window-sources")
	flags.BoolVar(&r.trace, "trace", false, "record the paths of packets")
	flags.StringVar(&r.node, "node", "", "run this `NODE` only: its name, or # and its number")
	flags.StringVar(&r.hosts, "hosts", "", "`FILE` with one line per node: its name and its address with a port")
	flags.StringVar(&r.listen, "listen", "127.0.0.1:9000", "receive packets of node #0 at `HOST:PORT`, and those of the others at the following ports")
	flags.UintSliceVar(&r.join, "join", nil, "comma-separated `NUMBERS` of groups whose packets the node delivers")
	flags.Lookup("join").DefValue = "" // print no default
	flags.Uint64Var(&r.until, "until", 0, "end after this `NUMBER` of deliveries")
	quantity.DurationVar(flags, &r.lasting, "for", 0, "end after this `DURATION`, such as 1h")
	quantity.DurationVar(flags, &r.after, "after", time.Second, "`DURATION` to wait before sending")
	cli.Exclusive(cmd, "node", "sender")
	r.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, r.run)
}

func (r *packetRun) run(ctx context.Context, streams *cli.Streams, _ []string) error {
	if r.payload < 8 || r.packets < 1 || r.packets > 1e9 {
		return cli.UsageError(fmt.Errorf("%v packets of %d bytes, want 1 to 1e9 packets of at least 8 bytes", r.packets, r.payload))
	}
	if !(r.pace.Rate >= 0) || r.pace.Window < 0 {
		return cli.UsageError(fmt.Errorf("--packet-rate %g and --in-flight %d, want at least 0", r.pace.Rate, r.pace.Window))
	}
	r.plane.Fault.Loss = float64(r.loss)
	ctx, stop := streams.SignalContext(ctx)
	defer stop()
	if r.node != "" {
		return r.one(ctx, streams, r.node)
	}
	for _, name := range []string{"join", "until", "for", "hosts", "listen", "after"} {
		if r.given[name] {
			return cli.UsageError(fmt.Errorf("--%s needs --node", name))
		}
	}
	err := r.all(ctx, streams)
	if errors.Is(err, context.Canceled) {
		return cli.Interrupted(ctx, "nothing was written")
	}
	return err
}

// packetRun is the task of umbel-multicast run.
type packetRun struct {
	treeFlags
	group   uint32
	packets quantity.Count
	payload int
	pace    dataplane.Pace
	plane   dataplane.Options
	loss    quantity.Rate
	trace   bool

	// for --node
	node, hosts, listen string
	given               cli.Given
	join                []uint
	until               uint64
	lasting             time.Duration
	after               time.Duration
}

// extend adds to a plan's headers a trace, if paths are recorded, and sequence numbers, if
// routers remember them. The source is a random number, because routers may remember
// sequence numbers of an earlier run.
func (r *packetRun) extend(t *tree.Tree, p scheme.Plan) error {
	if !r.trace && !r.sequenced() {
		return nil
	}
	source := rand.Uint32()
	return extend(p.Headers, func(h *inpacket.Header) {
		if r.trace {
			h.Trace = &inpacket.Trace{Capacity: min(t.Depth()+1, 255)}
		}
		if r.sequenced() {
			h.Sequenced, h.Source = true, source
		}
	})
}

func (r *packetRun) sequenced() bool { return r.how.window > 0 }

// Times after which packets in flight are considered lost, in addition to their delay: with
// deliberate loss, and without, on a machine that may be busy.
const (
	lossy    = 20 * time.Millisecond
	faithful = 5 * time.Second
)

// all runs all nodes in this process.
func (r *packetRun) all(ctx context.Context, streams *cli.Streams) error {
	on, err := r.plan(streams, r.group)
	if err != nil {
		return err
	}
	t, p := on.tree, on.plan
	if err := r.extend(t, p); err != nil {
		return err
	}
	tally := newTally(t.Receivers, uint64(r.packets), r.trace)
	r.pace.Receivers = len(t.Receivers) * len(p.Headers)
	if r.pace.Receivers == 0 {
		r.pace.Window = 0
	}
	r.pace.Patience = faithful
	if r.loss > 0 {
		r.pace.Patience = lossy
	}
	r.pace.Patience += time.Duration(t.Depth()) * r.plane.Fault.Delay
	pacer, err := dataplane.NewPacer(r.pace)
	if err != nil {
		return cli.UsageError(err)
	}
	cluster, err := dataplane.StartCluster(ctx, dataplane.ClusterConfig{
		Graph: on.network.Graph, Router: on.domain.Router, Options: r.plane,
		Deliver: func(node int, packet []byte) {
			tally.deliver(node, packet)
			pacer.Delivered()
		},
	})
	if err != nil {
		return err
	}
	defer cluster.Stop()
	bar := streams.CountBar("packets", int64(r.packets))
	start := time.Now()
	err = r.send(ctx, cluster.Node(t.Source), pacer, p, func(n int) { bar.Add(int64(n)) })
	bar.Stop()
	if err != nil {
		return err
	}
	took := time.Since(start)
	if err := cluster.Stop(); err != nil {
		return err
	}
	info := newRunInfo(t, p, tally, cluster, took)
	if err := streams.Answer(info, info.Write); err != nil {
		return err
	}
	if info.Missed > 0 {
		return cli.ErrAbsent
	}
	return nil
}

// one runs one node in this process.
func (r *packetRun) one(ctx context.Context, streams *cli.Streams, name string) error {
	n, err := r.net.network(streams)
	if err != nil {
		return err
	}
	self, err := nodeNamed(n.Graph, name)
	if err != nil {
		return err
	}
	addresses, err := r.addresses(n)
	if err != nil {
		return cli.UsageError(err)
	}
	configs, err := dataplane.NodeConfigs(n.Graph, addresses)
	if err != nil {
		return err
	}
	s, err := r.how.scheme()
	if err != nil {
		return err
	}
	d, err := s.Domain(n, n)
	if err != nil {
		return err
	}
	for _, g := range r.join {
		if uint(uint32(g)) != g {
			return cli.UsageError(fmt.Errorf("group %d, want a number of 32 bits", g))
		}
		d.Receive(uint32(g), []int{self})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.lasting > 0 {
		defer time.AfterFunc(r.lasting, cancel).Stop()
	}
	tally := newTally([]int{self}, 0, r.trace)
	node, err := dataplane.Open(dataplane.Config{
		Node: configs[self], Router: d.Router(self), Options: r.plane,
		Deliver: func(packet []byte) {
			if tally.deliver(self, packet); r.until > 0 && tally.total.Load() >= r.until {
				cancel()
			}
		},
	})
	if err != nil {
		return err
	}
	defer node.Close()
	streams.Remark("%s listens on %v", n.Graph.Nodes[self].Name, node.Config().Listen)
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	if len(r.ends.receivers) > 0 {
		if err := r.sendFrom(ctx, n, d, node, self); err != nil && ctx.Err() == nil {
			return err
		}
		if len(r.join) == 0 {
			cancel()
		}
	}
	if err := <-ended; err != nil {
		return err
	}
	info := newNodeRunInfo(n.Graph, self, node.Counters(), tally)
	return streams.Answer(info, info.Write)
}

// addresses returns the addresses of all nodes.
func (r *packetRun) addresses(n *multicast.Network) ([]netip.AddrPort, error) {
	if r.hosts == "" {
		first, err := netip.ParseAddrPort(r.listen)
		if err != nil {
			return nil, fmt.Errorf("--listen %q, want an address with a port, such as 127.0.0.1:9000", r.listen)
		}
		return dataplane.Consecutive(first, len(n.Graph.Nodes))
	}
	file, err := os.Open(r.hosts)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	addresses, err := dataplane.ReadHosts(file, n.Graph)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.hosts, err)
	}
	return addresses, nil
}

// sendFrom sends the packets from one node to receivers in other processes.
func (r *packetRun) sendFrom(ctx context.Context, n *multicast.Network, d scheme.Domain, node *dataplane.Node, self int) error {
	r.ends.source = fmt.Sprintf("#%d", self)
	source, receivers, err := r.ends.ends(n.Graph)
	if err != nil {
		return err
	}
	t, err := r.net.find(n.Graph, source, receivers)
	if err != nil {
		return err
	}
	p, err := d.Plan(t, r.group)
	if err != nil {
		return err
	}
	if err := r.extend(t, p); err != nil {
		return err
	}
	select {
	case <-time.After(r.after):
	case <-ctx.Done():
		return ctx.Err()
	}
	pacer, err := dataplane.NewPacer(dataplane.Pace{Rate: r.pace.Rate})
	if err != nil {
		return cli.UsageError(err)
	}
	return r.send(ctx, node, pacer, p, func(int) {})
}

// send sends the packets and waits until none is in flight.
func (r *packetRun) send(ctx context.Context, node *dataplane.Node, pacer *dataplane.Pacer, p scheme.Plan, sent func(n int)) error {
	for _, header := range p.Headers {
		packets := newPackets(header, r.payload, r.sequenced())
		err := node.Send(ctx, pacer, int(r.packets), func(i int) []byte { sent(1); return packets.packet(i) })
		if err != nil {
			return err
		}
	}
	return pacer.Drain(ctx)
}
