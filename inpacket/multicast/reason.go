package multicast

// Reason is why a packet is dropped. Routers count packets by reason.
type Reason uint8

const (
	None        Reason = iota
	Malformed          // the header isn't one, or is cut off
	Version            // of a version of the format that isn't known
	Epoch              // of an epoch whose codewords the router hasn't
	Expired            // its TTL is used up
	AllOnes            // its filter holds every link there could be
	Overfull           // more of its filter's bits are one than any sender's filter has
	Duplicate          // came before, by source and sequence
	Unknown            // of a form or a candidate set that the router has no codewords for
	Unsequenced        // has no sequence, and the router takes none such
	Loose              // its filter holds more links by chance than the router allows
	TooFar             // its TTL is higher than any the router allows
	Reasons            // how many reasons there are
)

var reasons = [Reasons]string{
	"", "malformed", "version", "epoch", "expired", "all-ones", "over-full", "duplicate", "unknown", "unsequenced",
	"loose", "too-far",
}

// inWords are the reasons, for those who look for a fault.
var inWords = [Reasons]string{
	"not dropped",
	"it is no header, or is cut off",
	"its version of the format isn't known here",
	"there are no keys for its epoch here",
	"its TTL was used up before it came",
	"all bits of its filter are one, so that it would go out on every link",
	"more than three quarters of its filter's bits are one",
	"it came before, or is too far behind the newest of its source",
	"there are no codewords for its form, or set of codewords, here",
	"it has no sequence, and nothing without one is taken here",
	"its filter holds more links by chance than is allowed here",
	"its TTL is higher than is allowed here",
}

func (r Reason) words() string {
	if int(r) < len(inWords) {
		return inWords[r]
	}
	return "for a reason that isn't known here"
}

// String returns the reason in a word, "" for None.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return "reason unknown"
}
