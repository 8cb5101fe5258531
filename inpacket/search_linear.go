package inpacket

func searchLinear(l links, q *quest) (best Found, ok bool) { return }
