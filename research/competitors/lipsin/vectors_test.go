package lipsin

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// TestVectors compares codewords with the conformance vectors of the specification.
func TestVectors(t *testing.T) {
	b, err := os.ReadFile("../../../spec/vectors/inpacket/lipsin.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(b), "\n\n")
	rows := 0
	for line := range strings.Lines(body) {
		var d Parameters
		var c inpacket.Codeword
		var set int
		var want string
		if _, err := fmt.Sscanf(line, "%d %d %16x%16x %d %s", &d.M, &d.K, &c.H1, &c.H2, &set, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		d.Sets, d.MaxFill = set+1, 1
		var got []byte
		for _, word := range d.Codewords(c)[set] {
			got = binary.LittleEndian.AppendUint64(got, word)
		}
		if got := hex.EncodeToString(got[:(d.M+7)/8]); got != want {
			t.Errorf("row %d: got %s, want %s", rows, got, want)
		}
		rows++
	}
	if rows < 40 {
		t.Errorf("%d rows", rows)
	}
}
