// Command papers regenerates the tables and figures of the papers that umbel builds on.
package main

func main() {}
