package contacts

// Price is the energy that a device spends, in nanojoules. Both ends of a contact have the same
// price.
type Price struct {
	Name           string
	Send, Receive  float64 // per byte
	PacketSend     float64 // per packet of at most packetBytes
	PacketReceive  float64
	CPUMicrosecond float64
}

// prices contains the devices that are compared. Radios: current times 3 V times the time of a
// byte, from the data sheets; Feeney and Nilsson measured bytes and packets. The radio's energy
// while it waits is not part of a price, because it does not depend on the summary.
//
// The processor of all devices is a Cortex-M4 at 64 MHz that takes 52 µA/MHz at 3 V. Cycles per
// operation are assumptions (see keyMicroseconds), so one price has ten times as many.
var prices = []Price{
	{Name: "Bluetooth LE", Send: 8 * 4.8 * 3, Receive: 8 * 4.6 * 3, CPUMicrosecond: cortex},
	{Name: "Bluetooth LE, CPU × 10", Send: 8 * 4.8 * 3, Receive: 8 * 4.6 * 3, CPUMicrosecond: 10 * cortex},
	{Name: "IEEE 802.15.4", Send: 32 * 17.4 * 3, Receive: 32 * 18.8 * 3, CPUMicrosecond: cortex},
	{Name: "IEEE 802.11", Send: 1900, Receive: 500, PacketSend: 454_000, PacketReceive: 356_000, CPUMicrosecond: cortex},
}

// bytes returns the number of bytes that can be sent with an energy, without packets.
func (p Price) bytes(joules float64) int { return max(0, int(1e9*joules/(p.Send+p.Receive))) }

const cortex = 64 * 0.052 * 3 // nanojoules per microsecond

// Time of the processor at one end.
const (
	keyMicroseconds  = 10 // to hash a key and to set or test its cells: 640 cycles
	cellMicroseconds = 1  // to encode or decode a cell: 64 cycles
)

const packetBytes = 1500

// Tally is what all contacts of a simulation cost and yielded together.
type Tally struct {
	Found    int64 // objects received completely
	Requests int64 // answered requests
	Wasted   int64 // requests for an absent object
	Bytes    int64 // sent, including what was lost at the end of a contact
	Packets  int64
	CPU      int64 // microseconds, both ends

	// Of the schemes that send one filter whole: the false positives among all queries for
	// absent objects, and their number by equation (1), corrected.
	Positives int64
	Predicted float64
}

// Joules returns the energy of both ends of all contacts.
func (t Tally) Joules(p Price) float64 {
	return 1e-9 * (float64(t.Bytes)*(p.Send+p.Receive) +
		float64(t.Packets)*(p.PacketSend+p.PacketReceive) + float64(t.CPU)*p.CPUMicrosecond)
}
