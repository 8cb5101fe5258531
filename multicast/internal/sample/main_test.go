package main

import (
	"os"
	"strings"
	"testing"
)

func Example() {
	main()
	// Output:
	// 3 links in a header of 16 bytes
	// copy to node 2
	// copy to node 4
	// group 9: hello
}

// docs/multicast.md contains the program and what it prints.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/multicast.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	test, err := os.ReadFile("main_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, output, _ := strings.Cut(string(test), "// Output:\n")
	output, _, _ = strings.Cut(output, "}")
	output = strings.ReplaceAll(output, "\t// ", "")
	if want := "```go\n" + string(program) + "```\n\n```\n" + output + "```\n"; !strings.Contains(string(page), want) {
		t.Errorf("docs/multicast.md does not contain\n%s", want)
	}
}
