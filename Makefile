# `make test` runs the tests of every module; every change passes it. `.ci/run` runs the
# other checks as well.

MODULES = $(patsubst %go.mod,./%,$(filter-out %_gen/go.mod .ci/tools/go.mod,$(shell git ls-files -co --exclude-standard '*go.mod')))
PACKAGES = $(addsuffix ...,$(MODULES))
TOOL    = GOWORK=off go tool -modfile=$(CURDIR)/.ci/tools/go.mod

# Packages with concurrent additions and queries.
RACE = . ./cells ./internal/merkle ./probe ./wire/... ./filter/...
# Packages with kernels in assembly have plain Go versions behind the tag purego.
PURE = ./cells ./internal/entropy ./probe ./wire/... ./filter/...
# The command and its libraries are built for other systems too.
PORTABLE = . share inpacket/multicast cmd

# A number of inputs, not a duration: Go before 1.27 may fail a target whose time ends
# during an input (go.dev/issue/75804).
FUZZTIME  = 10000x
BENCHTIME = 20ms

.PHONY: test vet tidy race purego fuzz bench generate

test:
	@set -e; for m in $(MODULES); do (cd $$m && go test ./...); done

vet:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'gofmt would change these'; exit 1; }
	@set -e; for m in $(MODULES); do (cd $$m && go vet ./... && $(TOOL) staticcheck ./...); done
	@# Functions of the program that only tests use, or nothing; packages *test are for tests.
	@cd cmd && dead=$$($(TOOL) deadcode ./...) && ! echo "$$dead" | grep -v -e 'test/' -e '^$$'
	GOARCH=arm64 go vet ./...
	@set -e; for m in $(PORTABLE); do for os in windows darwin; do (cd $$m && GOOS=$$os go build ./...); done; (cd $$m && GOARCH=386 go vet ./...); done

# go.mod and go.sum must match the imports, and go.work.sum must be complete: go adds what is missing.
tidy:
	@set -e; for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy -diff); done
	@go list -m all >/dev/null && go list -deps -test $(PACKAGES) >/dev/null && git diff --exit-code go.work.sum

race:
	go test -race -short $(RACE)
	cd share && go test -race -short ./...
	cd inpacket/multicast && go test -race -short . ./dataplane ./sim
	cd cmd && go test -race -short ./internal/...

purego:
	go test -tags purego -short $(PURE)
	cd inpacket/multicast && go test -tags purego -short ./dataplane

# A short run of each fuzz target.
fuzz:
	@set -e; for m in $(MODULES); do (cd $$m && \
		grep -rl --include='*_test.go' --exclude-dir=_gen '^func Fuzz' . | xargs -r -n1 dirname | sort -u | while read -r d; do \
		test "$$m" != ./ -o ! -f "$$d/go.mod" || continue; \
		grep -ho '^func Fuzz[A-Za-z0-9_]*' $$d/*_test.go | cut -c6- | while read -r f; do \
		echo "fuzz $$d $$f"; go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$d || exit 1; done || exit 1; done) || exit 1; done

bench:
	@set -e; for m in $(MODULES); do (cd $$m && go test -run '^$$' -short -bench . -benchtime $(BENCHTIME) ./...); done

# All generated files are generated again.
generate:
	@set -e; for m in $(MODULES); do (cd $$m && go generate ./...); done
