# Frequent commands. .ci/run contains all checks that a change must pass.
.PHONY: help demo test golden lint fuzz ci release-check snapshot

help: ## list these
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 16

demo: ## play the demo
	go run .

test: ## the tests
	go test ./...

golden: ## write films, pictures and tables anew; read the difference
	go test ./ui ./ui/cli ./providers -update

lint: ## gofmt, vet, staticcheck
	test -z "$$(gofmt -l .)"
	go vet ./...
	go tool staticcheck ./...

fuzz: ## fuzz one target: make fuzz PACKAGE=./stream TARGET=FuzzLexer
	go test $(PACKAGE) -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime 20s

ci: ## everything a change has to pass
	.ci/run

release-check: ## the workflows and the configuration of releases, checked by their own tools
	.ci/release check

snapshot: ## build every artefact of a release into dist, and publish none
	.ci/release snapshot
