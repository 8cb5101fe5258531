package snapfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	piecePrefix    = "piece-"
	manifestPrefix = "manifest-"
	reserveName    = "reserve"
	digits         = 16
)

// copies are the numbers of the copies of a manifest.
var copies = [...]int{1, 2}

// temporary returns the name of a copy of a manifest that is being written or removed.
func temporary(copy int) string { return fmt.Sprintf("manifest-%d.tmp", copy) }

// isTemporary reports whether a name is one of temporary.
func isTemporary(name string) bool {
	return slices.ContainsFunc(copies[:], func(copy int) bool { return name == temporary(copy) })
}

func pieceName(number uint64) string { return fmt.Sprintf("%s%0*x", piecePrefix, digits, number) }

// parsePiece returns the number of a piece. ok is false if name is not that of a piece.
func parsePiece(name string) (number uint64, ok bool) {
	rest, ok := strings.CutPrefix(name, piecePrefix)
	if !ok {
		return 0, false
	}
	return parseNumber(rest)
}

// generation identifies a manifest.
type generation struct{ number, position uint64 }

func (g generation) name(copy int) string {
	return fmt.Sprintf("%s%0*x-%0*x-%d", manifestPrefix, digits, g.number, digits, g.position, copy)
}

// parseManifest returns the generation of a manifest and the number of the copy. ok is false if name
// is not that of a manifest.
func parseManifest(name string) (g generation, copy int, ok bool) {
	rest, ok := strings.CutPrefix(name, manifestPrefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return g, 0, false
	}
	number, ok1 := parseNumber(parts[0])
	position, ok2 := parseNumber(parts[1])
	copy, err := strconv.Atoi(parts[2])
	g = generation{number, position}
	return g, copy, ok1 && ok2 && err == nil && g.name(copy) == name
}

// parseNumber parses a number of the form that names have.
func parseNumber(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 16, 64)
	return n, err == nil && len(s) == digits && strings.ToLower(s) == s
}
