package multicast

// Host is the port on which a packet comes in from the node's own host.
const Host = -1

// Router decides, at one node, where packets go. It belongs to one goroutine.
type Router interface {
	// Route decides on the packet b that came in on a port, or from Host, and
	// appends a Copy for each port that it goes out on. It may change b, and the
	// copies may share b or memory of the router's: they are valid until the next
	// call. Whatever is wrong with b is said by the verdict: Route doesn't panic.
	Route(dst []Copy, b []byte, in int) ([]Copy, Verdict)
}

// Copy is a packet on its way out.
type Copy struct {
	Port   int // index of the link among those of the node, see topology.Graph.Ports
	Packet []byte
}

// Verdict is what a router says of one packet.
type Verdict struct {
	Deliver bool   // to the node's own host
	Drop    Reason // why no copy was made, if that is a fault; None otherwise
}
