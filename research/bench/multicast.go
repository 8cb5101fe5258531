package main

// multicasts are the measurements of filters in packets. Of networks that can't be read
// the error comes when they are wanted.
func multicasts(o options, p *progress) []func() (*Table, error) {
	jobs := []func() (*Table, error){
		func() (*Table, error) { return runDecide(nodeLinks, o, p) },
		func() (*Table, error) { return runRoute(nodeLinks, headersInTurn, o, p) },
	}
	for _, name := range networkNames() {
		jobs = append(jobs, func() (*Table, error) { return runSearch(name, receiverCounts, o, p) })
	}
	return append(jobs, func() (*Table, error) { return runPlane(planePackets, o, p) })
}
