package command

import (
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// guard makes a command fail while names of filters may be missing, or the filters may be out of date, if one of its keys has no filter:
// its reply would depend on that. Keys that the command may make are left to engine.Put.
func (r *Row) guard(e *engine.Engine) {
	if r.Keys == (Keys{}) {
		return
	}
	keys, made := r.Keys, r.Makes
	unknown := func(args [][]byte) string {
		err := e.CheckNames()
		if err == nil {
			return ""
		}
		last := keys.Last
		if last < 0 {
			last += len(args)
		}
		for i := keys.First; i <= min(last, len(args)-1); i++ {
			if i != made && e.Get(args[i]) == nil {
				return Text(err)
			}
		}
		return ""
	}
	if run := r.Run; run != nil {
		r.Run = func(c *resp.Conn, args [][]byte) {
			if reply := unknown(args); reply != "" {
				c.Error(reply)
				return
			}
			run(c, args)
		}
	}
	if run := r.RunAll; run != nil { // all calls have the same key
		r.RunAll = func(c *resp.Conn, calls [][][]byte) {
			reply := unknown(calls[0])
			if reply == "" {
				run(c, calls)
				return
			}
			for range calls {
				c.Error(reply)
			}
		}
	}
}
