# Every target works from a clean clone; `make` lists them.
SHELL := bash -euo pipefail

# The flags are always the same, so that what one clone or program has compiled can be used by the next.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath
export CGO_ENABLED := 0

GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.9.0
# The version to set where git doesn't know it, as in a tarball.
VERSION ?=
TESTBED := cd test && go run ./cmd/testbed

.DEFAULT_GOAL := help
.PHONY: help build demo down test test-all faults unit race vuln golden lint fix generate bench release-snapshot clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the programs into bin/
	go build -ldflags '-s -w -X github.com/kubectl-etcd/kubectl-etcd/internal/version.stamped=$(VERSION)' -o bin/ ./cmd/...

demo: ## Start a real cluster on this machine and play the story on it (root)
	@echo "building the testbed's own program (the first time, a few minutes without output)"
	$(TESTBED) demo

down: ## Stop every testbed on this machine and leave nothing behind (root)
	$(TESTBED) down --all

# Everything is built before the first cluster, and the slowest packages begin first. Each package
# has its own cluster, so `make test` runs two packages at once and `make test-all` one: members that
# wait for a processor seem dead. None of them vets, because a linter does.
CLUSTER_TESTS := go test -vet=off -count=1 -timeout 80m -parallel 100 -ldflags '-s -w'
# What `make test` leaves out, and why: docs/decisions/two-sets-of-tests.md
LATER := guides|install|release|story/growth
LATER_TESTS := TestPlugin|TestReadyMade|TestStoreBreaksAndHeals|TestClientTrafficOfDruid|TestRollout|TestCuresTyped|TestWaysToGoPreemption
LATER_PROGRAMS := cert-manager,krew,promtool,validate-krew-manifest

test: unit ## Run the tests that every change has to pass, on real clusters (root)
	$(TESTBED) build --without '$(LATER_PROGRAMS)'
	cd test && $(CLUSTER_TESTS) -p 2 -skip '^($(LATER_TESTS))' ./e2e ./story/failures ./drains $$(go list ./... | grep -vE '/test/($(LATER))$$')

test-all: unit ## Run every test, also of the plugin on each kind of cluster, the installation and the guides (root)
	$(TESTBED) build
	cd test && $(CLUSTER_TESTS) -p 1 ./story/failures ./e2e ./install ./drains ./guides ./...

# FAULTS is the number of sequences. SEED is the seed of the first one: a failure prints the seed that replays it.
faults: FAULTS ?= 200
faults: ## Play 200 random sequences of faults on real clusters, or FAULTS=n; replay one with SEED=n KIND=k FAULTS=1 (root)
	$(TESTBED) build --without '$(LATER_PROGRAMS)'
	cd test && FAULTS='$(FAULTS)' SEED='$(SEED)' KIND='$(KIND)' go test -vet=off -count=1 -timeout 0 -ldflags '-s -w' -v -run '^TestFaults$$' ./drains

# The tests of package test read the source code in a process of its own, which the cache of results does not notice.
unit: ## Run the tests that need no cluster
	go test -vet=off ./...
	cd test && go test -vet=off -count=1 .

# The packages that share memory between goroutines. The race detector needs cgo.
RACE := ./internal/etcd/... ./internal/operate/lock ./controller/... ./webhook ./cmd/etcd-webhook

race: ## Run the tests of packages with goroutines under the race detector (gcc)
	CGO_ENABLED=1 go test -vet=off -race -timeout 60m -p 1 $(RACE)

vuln: ## Report known vulnerabilities in the code that is called (network)
	$(GOVULNCHECK) ./...
	cd test && $(GOVULNCHECK) ./...

golden: ## Rewrite the golden files from the present output
	UPDATE=1 go test ./...
	cd test && UPDATE=1 go test ./clusters

lint: ## Check the code's style in every module of ours
	$(GOLANGCI_LINT) run ./...
	cd test && $(GOLANGCI_LINT) run --config ../.golangci.yml ./...
	cd test/programs/wrapper && $(GOLANGCI_LINT) run --config ../../../.golangci.yml ./...
	cd test/programs/certmanager && $(GOLANGCI_LINT) run --config ../../../.golangci.yml ./...

fix: ## Correct what the linters can correct
	$(GOLANGCI_LINT) run --fix ./...
	cd test && $(GOLANGCI_LINT) run --config ../.golangci.yml --fix ./...

generate: ## Write generated code, the CRD and the reference documents
	go generate ./...

bench: ## Measure the rules and handlers, and compare the plugin with kubectl and etcdctl on a running testbed
	go test -run '^$$' -bench . -benchmem ./policy/... ./webhook
	cd test && go run ./cmd/snapshot-bench
	cd test && go test -run '^$$' -bench Plugin -benchtime 20x .

release-snapshot: ## Make all files of a release, for every platform, in dist/
	cd test && go run ./cmd/release --out ../dist --version '$(VERSION)'

clean: ## Remove what build made, and the testbed's cache of binaries and images
	rm -rf bin dist
	$(TESTBED) clean
