package redisbloom

import "github.com/umbel-filters/umbel/cmd/internal/resp"

// CuckooKind is the kind of the filters of CF.*.
const CuckooKind = "redisbloom-cf"

func (m *Module) cuckooCommands() []*resp.Command { return nil }
