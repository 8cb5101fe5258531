package node

import (
	"fmt"
	"io"
	"net"
)

// welcome prints what to try next. It is for a person at a terminal.
func welcome(w io.Writer, n *Node) {
	fmt.Fprintln(w, "\numbel is ready. Try in another terminal:")
	if a := n.RESP(); a != nil {
		_, port, _ := net.SplitHostPort(a.String())
		fmt.Fprintf(w, "  redis-cli -p %s BF.ADD users alice\n  redis-cli -p %s BF.EXISTS users alice\n", port, port)
	}
	if a := n.HTTP(); a != nil {
		_, port, _ := net.SplitHostPort(a.String())
		scheme := "http"
		if n.tls != nil {
			scheme = "https"
		}
		fmt.Fprintf(w, "  umbel list --addr %s://localhost:%s\n  curl %s://localhost:%s/v1/filters\n", scheme, port, scheme, port)
	}
	fmt.Fprintf(w, "The filters are stored in %s. ^C stops the node.\n\n", n.config.Data)
}
