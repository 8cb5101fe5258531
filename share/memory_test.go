package share_test

import (
	"testing"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/sharetest"
)

func TestMemory(t *testing.T) {
	sharetest.Store(t, func(*testing.T) share.Store { return new(share.Memory) })
}
