# `make test` tests every package in a few minutes; every change passes it. `make test-all` runs the shortened tests in their long
# forms, and .ci/run runs it and the other checks.

MODULES  = $(patsubst %go.mod,./%,$(filter-out tools/% connect/%,$(shell git ls-files -co --exclude-standard '*go.mod')))
PACKAGES = $(addsuffix ...,$(MODULES))
TOOL     = GOWORK=off go tool -modfile=$(CURDIR)/tools/go.mod

# As in releases, packages are built without cgo, and all targets use the same builds of the libraries; only the race
# detector needs cgo.
export CGO_ENABLED = 0

# Packages whose tests take longest begin first, so that the others run at the same time.
SLOW = ./cmd/umbel ./cmd/internal/node ./research/papers ./research/interop/faults ./research/interop/squid ./research/cachetests
# Packages whose code or tests start goroutines, and two that pass goroutines on. A test in which the race detector would
# find nothing calls race.Skip. share/blob and cmd/cloud are left out, since the libraries of clouds take minutes to compile.
BEGINS = ^[[:space:]]*go [a-z]|[.]Go\(|RunParallel|httptest.NewServer
CONCURRENT = $(shell git grep -lE '$(BEGINS)' -- '*.go' ':!cmd/umbel' ':!filter' ':!research' ':!share/blob' ':!cmd/cloud' ':!connect' ':!tools' ':!examples' | \
	xargs -n1 dirname | sort -u | sed 's|^|./|')
RACE = ./cmd/internal/durable/store ./share ./cmd/internal/node ./live ./multicast/sim $(CONCURRENT) ./wire/delta ./wire/hashtree
# The laws of kinds, and other tests of filters, in which goroutines share a filter.
ATOMIC = ^Test(Kind|Counting|CountingVariant)$$/^(AddAtomic|LoaderEqualsAddAll|CloneAtomic|DeltaRoundTrip)$$|Atomic
# Packages that are tested at the same time: one more than processors, since many tests wait for servers and disks.
ATONCE = $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
# A package may take five of the usual ten minutes, and longer on a busy machine.
PATIENT = -timeout 30m
# Packages with kernels in assembly, which have plain Go versions behind the tag purego, and those that call them most directly.
PURE = ./cells ./internal/coding/entropy ./internal/probe ./wire/... ./multicast/dataplane \
	$(addprefix ./filter/,bloom partitioned blocked foreign/splitblock ribbon counting sparse weighted window)
# The command and its libraries are built for other systems too.
PORTABLE = . ./share/nats ./cmd

# Packages without large libraries of others, which take long to compile; tests also without clients of Redis.
LIGHT = noopenapi,noarrow,noclouds
LIGHTTESTS = $(LIGHT),noclients

# Test binaries are linked once and run once, which is faster without tables for debuggers.
STRIPPED = -vet=off -ldflags='-s -w'

# Directories of the packages whose tests contain a function with a prefix.
dirs_with = git grep -l --untracked '^func $(1)[A-Z_]' -- '*_test.go' ':!connect' | xargs -n1 dirname | sort -u | sed 's|^|./|'

# A number of inputs, not a duration: Go before 1.27 may fail a target whose time ends
# during an input (go.dev/issue/75804).
FUZZTIME  = 2000x
# Benchmarks run once, to see that they do.
BENCHTIME = 1x

# $(call tests,FLAGS,PACKAGES) runs tests. With RERUN=1, as in .ci/run, a test that fails is run once more, alone, and the
# output has both results: much of what the tests start (servers, caches, clients) is not ours, and has its own timing.
# Two failures, a data race, more than five tests that fail, and a package that fails outside of a test remain failures.
tests = $(if $(RERUN),$$($(TOOL) -n gotestsum) --format pkgname --rerun-fails=1 --rerun-fails-max-failures=5 \
	--rerun-fails-abort-on-data-race --packages='$(2)' -- $(PATIENT) $(1),go test $(PATIENT) $(1) $(2))

.PHONY: test test-all vet tidy race purego platforms previous fuzz bench connect generate release rehearse recording

# The short forms of all tests. vet is a target of its own, so that no other vets again. With AFTER=test-all, as in .ci/run,
# packages that test-all has tested are left out.
test:
	$(call tests,-p $(ATONCE) $(STRIPPED) -short -tags $(LIGHTTESTS),$(if $(AFTER),$(REST),$(SLOW) $(PACKAGES)))

# The packages with tests that are shortened, or left out, in make test. The suite of kinds shortens tests of all kinds.
LONG = ./cmd/umbel $(addprefix ./,$(shell git grep -lE 'testing[.]Short[(][)]|^//go:build .*(noopenapi|noarrow|noclouds|noclients)' -- '*.go' | xargs -n1 dirname | sort -u)) \
	./filter/...

# Their tests in the long forms, also those that compile large libraries of others, wait for other programs or compute for
# minutes: the HTTP interface against its OpenAPI document, Parquet files of Apache Arrow, the tests of a Redis client,
# nginx and Squid against the recorded verdicts of HTTP caching tests, and all figures and tables of the papers.
test-all:
	$(call tests,-p $(ATONCE) $(STRIPPED),$(LONG))

# The packages that test-all leaves out, whose tests have one form.
REST = $(filter-out $(shell go list $(LONG)),$(shell go list $(PACKAGES)))

vet:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'gofmt would change these'; exit 1; }
	go vet -tags $(LIGHT) $(PACKAGES)
	$$($(TOOL) -n staticcheck) -tags $(LIGHT) $(PACKAGES)
	@# Functions of the program that only tests use, or nothing; packages *test are for tests.
	@cd cmd && dead=$$($(TOOL) deadcode ./...) && ! echo "$$dead" | grep -v -e 'test/' -e '^$$'
	cd tools && GOWORK=off go vet ./... && GOWORK=off $$($(TOOL) -n staticcheck) ./...
	$$($(TOOL) -n actionlint)
	GOOS=darwin GOARCH=arm64 go build $(PORTABLE:%=%/...)
	GOOS=windows GOARCH=386 go build $(PORTABLE:%=%/...)

# go.mod and go.sum must match the imports, and go.work.sum must be complete: go adds what is missing.
tidy:
	@set -e; for m in $(MODULES) tools; do (cd $$m && GOWORK=off go mod tidy -diff); done
	@go list -m all >/dev/null && go list -deps -test $(PACKAGES) >/dev/null && git diff --exit-code go.work.sum

race:
	CGO_ENABLED=1 $(call tests,-p $(ATONCE) $(STRIPPED) -race -short -tags noopenapi,$(RACE))
	CGO_ENABLED=1 go test $(PATIENT) $(STRIPPED) -race -short -run '$(ATOMIC)' ./filter/...

purego:
	go test $(STRIPPED) -tags purego -short $(PURE)

# On arm64: plans are the same where the compiler fuses multiplications and additions, and filters work without kernels. It needs qemu-user.
platforms:
	GOARCH=arm64 go test $(STRIPPED) -exec "$$(command -v qemu-aarch64-static qemu-aarch64 | head -n 1)" -short -run "PlansOfPlatforms|Kind|Has|Add|Atomic" ./plan ./internal/probe ./cells ./filter/bloom ./filter/blocked ./filter/foreign/splitblock

# The library supports the version of Go before the current one, too. The go command downloads it. In all modules, go vet
# reports what is newer than the version in go.mod (the analyzer stdversion), so that only the library is compiled with it.
PREVIOUS = go1.25.5
previous:
	GOWORK=off GOTOOLCHAIN=$(PREVIOUS) go test $(STRIPPED) -short ./...

# Components for streams, in modules that go.work leaves out, with their tests on the engines.
connect:
	cd connect && GOWORK=off go mod tidy -diff && GOWORK=off go vet ./... && GOWORK=off $$($(TOOL) -n staticcheck) ./... && GOWORK=off go test $(STRIPPED) ./...
	cd connect && GOWORK=off ../.ci/fuzz internal/state $(FUZZTIME)
	cd connect/bento && GOWORK=off go vet ./... && GOWORK=off go test $(STRIPPED) ./...

# A short run of each fuzz target, of two packages at a time.
fuzz:
	@$(call dirs_with,Fuzz) | xargs -P2 -I{} .ci/fuzz {} $(FUZZTIME)

# Two lists of packages at a time, since go test runs the benchmarks of a list one after the other.
bench:
	@$(call dirs_with,Benchmark) | xargs -P2 -n8 go test $(STRIPPED) -tags noopenapi -run '^$$' -short -bench . -benchtime $(BENCHTIME)

# All generated files are generated again.
generate:
	@set -e; for m in $(MODULES); do (cd $$m && go generate ./...); done

# make release VERSION=v0.1.0 writes dist/v0.1.0; docs/releasing.md has the steps.
release:
	@cd tools && GOWORK=off go run ./release "$(VERSION)" "$(CURDIR)/dist/$(VERSION)"

# The part of a release that can fail because of a change: the modules of the last commit are tagged in a
# clone, installed with an empty module cache and used.
rehearse:
	cd tools && GOWORK=off go test ./release && GOWORK=off go run ./release -rehearse v0.0.0-rehearsal

# A session in a terminal as an animated picture. Its measured numbers differ each time, so that
# generate doesn't write it.
recording:
	cd research/recording && go run . ../../docs/pictures/session.svg
