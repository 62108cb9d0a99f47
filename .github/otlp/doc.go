// Package otlp runs toolscope with the receiver of OpenTelemetry's own collector. Every span must arrive at
// the receiver once, or toolscope must count it as missing.
//
// It is a separate module in a hidden folder, so that toolscope doesn't depend on the collector.
package otlp
