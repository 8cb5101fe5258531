package command

import (
	"math"
	"strings"
	"testing"
)

func TestParseInt(t *testing.T) {
	for word, want := range map[string]int64{"0": 0, "7": 7, "-7": -7, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64} {
		if got, ok := ParseInt([]byte(word)); !ok || got != want {
			t.Errorf("%s: %d, %v", word, got, ok)
		}
	}
	for _, word := range []string{"", "-", "+7", "07", "-07", "-0", "7 ", "0x7", "7_0", "9223372036854775808", strings.Repeat("1", 1<<20)} {
		if got, ok := ParseInt([]byte(word)); ok {
			t.Errorf("%.20q is %d", word, got)
		}
	}
}

func TestIs(t *testing.T) {
	if !Is([]byte("rePlace"), "REPLACE") || Is([]byte("REPLAC"), "REPLACE") || Is(nil, "NX") {
		t.Error("an option is not recognized, or another word is")
	}
}

// Input in an error is short and on one line.
func TestClip(t *testing.T) {
	word := []byte("a\r\n" + strings.Repeat("b", 1000))
	if got := Clip(word); got != "a  "+strings.Repeat("b", 125) {
		t.Errorf("Clip: %q", got)
	}
	if got := Quote(word); got != `"a\r\n`+strings.Repeat("b", 61)+`"` {
		t.Errorf("Quote: %s", got)
	}
}
