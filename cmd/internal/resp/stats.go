package resp

import "sync/atomic"

// Stats are totals since the server was made.
type Stats struct {
	Connections uint64 // accepted
	Rejected    uint64 // connections above Limits.Clients
	Errors      uint64 // error replies
	Read        uint64 // bytes
	Written     uint64
}

// stats are the counters behind Stats.
type stats struct{ connections, rejected, errors, read, written atomic.Uint64 }

// Stats returns the totals. It is safe for concurrent use.
func (s *Server) Stats() Stats {
	return Stats{
		Connections: s.stats.connections.Load(), Rejected: s.stats.rejected.Load(), Errors: s.stats.errors.Load(),
		Read: s.stats.read.Load(), Written: s.stats.written.Load(),
	}
}
