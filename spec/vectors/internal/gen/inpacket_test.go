package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
)

var packetSentinels = map[string]error{"ok": nil, "malformed": inpacket.ErrMalformed, "version": inpacket.ErrVersion}

// TestPackets: each packet is accepted or refused as its header states. An accepted packet has
// the fields in its header, encodes to the same bytes and contains exactly the links that are
// listed as held.
func TestPackets(t *testing.T) {
	for _, f := range inFolder(t, "inpacket") {
		if f.Value("row") != "" { // no packet
			continue
		}
		t.Run(f.Path, func(t *testing.T) {
			b, err := f.Data()
			if err != nil {
				t.Fatal(err)
			}
			want, known := packetSentinels[f.Value("expect")]
			if !known {
				t.Fatalf("expect: %q", f.Value("expect"))
			}
			var h inpacket.Header
			n, err := h.Parse(b)
			if !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if err != nil {
				return
			}
			if string(b[n:]) != packetPayload {
				t.Errorf("payload %q", b[n:])
			}
			if again, err := h.AppendBinary(nil); err != nil || !bytes.Equal(again, b[:n]) {
				t.Errorf("written again it is\n%s%v", vector.HexLines(again), err)
			}
			for name, got := range map[string]any{
				"size": n, "ttl": h.TTL, "form": uint8(h.Form), "k": h.K, "seed": h.Seed, "bits": h.Bits, "epoch": h.Epoch,
				"group": h.Group, "ones": h.Ones(), "overfull": h.Overfull(),
			} {
				if fmt.Sprint(got) != f.Value(name) {
					t.Errorf("%s is %v, want %s", name, got, f.Value(name))
				}
			}
			checkOptions(t, f, &h)
			checkLinks(t, f, &h)
		})
	}
}

func checkOptions(t *testing.T, f file, h *inpacket.Header) {
	t.Helper()
	if h.Sequenced != (f.Value("source") != "") || h.Sequenced && (fmt.Sprint(h.Source) != f.Value("source") || fmt.Sprint(h.Sequence) != f.Value("sequence")) {
		t.Errorf("source %d and sequence %d: %v", h.Source, h.Sequence, h.Sequenced)
	}
	if (h.Trace != nil) != (f.Value("room") != "") {
		t.Fatalf("a trace: %v", h.Trace)
	}
	if h.Trace == nil {
		return
	}
	var nodes []string
	for _, n := range h.Trace.Nodes {
		nodes = append(nodes, strconv.Itoa(int(n)))
	}
	if fmt.Sprint(h.Trace.Capacity) != f.Value("room") || !reflect.DeepEqual(nodes, f.Values("node")) {
		t.Errorf("a trace: %v", h.Trace)
	}
}

// checkLinks matches each link by itself.
func checkLinks(t *testing.T, f file, h *inpacket.Header) {
	t.Helper()
	for name, want := range map[string]uint64{"held": 1, "link": 0} {
		for _, text := range f.Values(name) {
			word, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			var got [1]uint64
			if h.Form == inpacket.Dense {
				c := make(inpacket.BitString, (len(word)+7)/8)
				for i, b := range word {
					c[i/8] |= uint64(b) << (i % 8 * 8)
				}
				sets := make([][]inpacket.BitString, h.Seed+1)
				for s := range sets {
					sets[s] = []inpacket.BitString{c}
				}
				inpacket.NewDenseTable(len(word)*8, sets).Match(got[:], h)
			} else {
				var c inpacket.Codeword
				if _, err := fmt.Sscanf(text, "%16x%16x", &c.H1, &c.H2); err != nil {
					t.Fatal(err)
				}
				inpacket.NewTable([]inpacket.Codeword{c}).Match(got[:], h)
			}
			if got[0] != want {
				t.Errorf("%s %s: %b", name, text, got[0])
			}
		}
	}
}

// TestPacketExample: the example in inpacket.md is the vector single-example.
func TestPacketExample(t *testing.T) {
	got := exampleBytes(t, "inpacket.md")
	for _, p := range validPackets() {
		if p.name != "single-example" {
			continue
		}
		want, err := p.header.AppendBinary(nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("the page has\n%swant\n%s%v", vector.HexLines(got), vector.HexLines(want), err)
		}
		for _, c := range codewords()[:2] {
			if text := codewordText(c); !strings.Contains(page(t, "inpacket.md"), text) {
				t.Errorf("the page has no codeword %s", text)
			}
		}
		return
	}
	t.Error("no vector single-example")
}
