# Frequent commands. .ci/run contains all checks that a change must pass.
.PHONY: help demo test golden lint fuzz ci release-check snapshot

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 16

demo: ## play the demo
	go run .

test: ## run the tests
	go test ./...

golden: ## rewrite films, pictures and tables; then read the difference
	go test ./ui ./ui/cli ./providers -update

lint: ## run gofmt, vet and staticcheck
	test -z "$$(gofmt -l .)"
	go vet ./...
	go tool staticcheck ./...

fuzz: ## fuzz one target: make fuzz PACKAGE=./stream TARGET=FuzzLexer
	go test $(PACKAGE) -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime 20s

ci: ## run all checks that a change must pass
	.ci/run

release-check: ## check the workflows and the configuration of releases with their own tools
	.ci/release check

snapshot: ## build all artefacts of a release into dist without publishing them
	.ci/release snapshot
