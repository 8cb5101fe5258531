//go:build !unix

package live_test

import "errors"

const fullPath = "UMBEL_TEST_FULL_PATH"

func fillDisk(string) error { return errors.ErrUnsupported }
