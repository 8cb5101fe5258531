package adaptive

import "github.com/umbel-filters/umbel/inpacket"

func umbelCodeword(x uint64) inpacket.Codeword {
	return inpacket.Codeword{H1: x * 0x9e3779b97f4a7c15, H2: x*0xd6e8feb86659fd93 + 1}
}
