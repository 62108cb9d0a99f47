// Package otlp runs toolscope with the receiver of OpenTelemetry's own collector: every span must
// arrive there once, or toolscope must count it as missing.
//
// It is a module of its own, in a hidden folder, so that toolscope doesn't depend on the collector.
package otlp
