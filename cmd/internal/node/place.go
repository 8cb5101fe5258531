package node

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
	"github.com/umbel-filters/umbel/internal/event"
)

// advertised returns the address of the node in a slot map.
func (c Config) advertised() string {
	if c.Advertise != "" {
		return c.Advertise
	}
	return c.RESP
}

// validatePlace is Validate for the settings of a slot map.
func (c Config) validatePlace() error {
	switch {
	case c.Advertise != "":
		if err := slots.CheckAddress(c.Advertise); err != nil {
			return fmt.Errorf("advertise: %w", err)
		}
	case c.SlotMap == "":
	case c.RESP == off:
		return fmt.Errorf("slot-map is for Redis clients, and resp is off; set resp")
	case anyAddress(c.RESP):
		return fmt.Errorf("slot-map needs advertise, the address at which clients reach this node, since resp (%s) is all addresses or any port", c.RESP)
	}
	return nil
}

// anyAddress reports whether a node listens on all addresses of the machine, or on any port.
func anyAddress(address string) bool {
	host, port, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return host == "" || port == "0" || err == nil && ip.IsUnspecified()
}

// openPlace reads the slot map.
func (n *Node) openPlace() (err error) {
	if n.config.SlotMap == "" {
		return nil
	}
	if n.place, err = slots.Open(n.config.SlotMap, n.config.advertised()); err != nil {
		return err
	}
	if n.config.Log != "" {
		n.place.Lead("") // until the log says who leads
	}
	n.tasks.Go(func() { n.place.Watch(n.working, &http.Client{Timeout: time.Second}) })
	return nil
}

// reloadPlace reads the slot map again.
func (n *Node) reloadPlace() error {
	if n.place == nil {
		return nil
	}
	v, err := n.place.Reload()
	if err == nil && !v.Present() {
		n.log.Warn("the slot map does not have this node any more: clients are redirected, and filters stay until they are moved", event.SlotsLeft,
			"node", v.Self, "map", n.config.SlotMap)
	}
	return err
}

// mode is redis_mode of INFO.
func (n *Node) mode() string {
	if n.place != nil {
		return "cluster"
	}
	return "standalone"
}
