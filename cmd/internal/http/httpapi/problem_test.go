package httpapi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// kinds are all kinds of problems.
func kinds() []problemType {
	all := []problemType{
		badRequest, unauthorized, noPath, methodNotAllowed, notAcceptable, precondition, tooLarge, mediaType, misdirected, elsewhere, roleConflict,
		crossOrigin, tooMany, incomplete, notKept, notPublished, notReady, busy, absent, internalError,
	}
	for _, s := range sentinels {
		all = append(all, s.problemType)
	}
	return all
}

// The page for people has each problem, with its status, and no other.
func TestProblemsAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../../../docs/node-http.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "## Problems")
	table, _, _ = strings.Cut(table, "\n## ")
	words := map[string]bool{}
	for _, k := range kinds() {
		words[k.word] = true
		if row := fmt.Sprintf("| `%s` | %d |", k.word, k.status); !strings.Contains(table, row) {
			t.Errorf("the page has no row %s", row)
		}
	}
	if rows := strings.Count(table, "\n| `"); rows != len(words) {
		t.Errorf("the page has %d rows, there are %d kinds", rows, len(words))
	}
}

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("x: %w", engine.ErrMemory), "memory"},
		{fmt.Errorf("x: %w", umbel.ErrLimit), "limit"},
		{fmt.Errorf("%w: %w", umbel.ErrCorrupt, errors.ErrUnsupported), "unsupported"},
		{fmt.Errorf("%w: %w", engine.ErrReadOnly, errors.New("the disk is full")), "read-only"},
		{problemf(precondition, "%w", engine.ErrExists), "precondition"},
		{partialError{umbel.ErrMismatch, 3}, "mismatch"},
		{errors.New("x"), "internal"},
	} {
		if got := problemTypeOf(c.err).word; got != c.want {
			t.Errorf("%v is %q, want %q", c.err, got, c.want)
		}
	}
}

// The detail of a problem is one line, also for several errors.
func TestDetailIsOneLine(t *testing.T) {
	if got := problemOf(errors.Join(errors.New("one"), errors.New("two"))).Detail; got != "one; two" {
		t.Errorf("got %q", got)
	}
}
