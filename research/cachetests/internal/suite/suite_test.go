package suite

import (
	"os"
	"testing"
)

func TestLoadPublished(t *testing.T) {
	f, err := os.Open("/work/shared/data/cache-tests/tests.json")
	if err != nil {
		t.Skip(err)
	}
	tests, err := Load(f)
	t.Log(len(tests), err)
}
