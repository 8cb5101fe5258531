package cli

import (
	"time"
)

// Clock returns the time; tests replace it.
var Clock = time.Now
