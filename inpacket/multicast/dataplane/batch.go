package dataplane

import "net/netip"

// burst is how many packets are received, or sent, in one system call.
const burst = 64

// inbox has room for packets on their way in.
type inbox struct {
	room    int // bytes for each: one more than the longest packet, to know longer ones
	memory  []byte
	count   int
	size    [burst]int
	from    [burst]netip.AddrPort
	deliver [burst]bool
}

func newInbox(longest int) *inbox {
	// Slots begin at multiples of a cache line, as many as makes an odd number, so that
	// the beginnings of packets spread over the cache.
	room := (longest/64 | 1) * 64
	if room <= longest {
		room += 128
	}
	return &inbox{room: room, memory: make([]byte, burst*room)}
}

// slot returns the room of packet i.
func (b *inbox) slot(i int) []byte { return b.memory[i*b.room : (i+1)*b.room : (i+1)*b.room] }

// packet returns packet i.
func (b *inbox) packet(i int) []byte { return b.slot(i)[:b.size[i]] }

// outbox collects packets on their way out of one socket.
type outbox struct {
	memory []byte
	first  int // those before it are sent
	count  int
	end    [burst]int // of packet i, in memory; it begins where the one before ends
	port   [burst]int
}

func newOutbox(longest int) *outbox {
	return &outbox{memory: make([]byte, 0, burst*longest)}
}

func (o *outbox) full() bool { return o.count == burst }

// add copies a packet, not longer than the longest; the box isn't full.
func (o *outbox) add(port int, packet []byte) {
	o.memory = append(o.memory, packet...)
	o.end[o.count], o.port[o.count] = len(o.memory), port
	o.count++
}

func (o *outbox) packet(i int) []byte {
	begin := 0
	if i > 0 {
		begin = o.end[i-1]
	}
	return o.memory[begin:o.end[i]]
}

func (o *outbox) clear() { o.memory, o.first, o.count = o.memory[:0], 0, 0 }
